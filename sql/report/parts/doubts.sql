doubts AS (
    SELECT
        results.experiment,
        results.protocol,
        results.split,
        results.backbone,
        results.baseline,
        COUNT(*) FILTER (WHERE results.validity = 'invalid') AS n_invalid,
        COUNT(*) FILTER (WHERE results.validity IS NULL) AS n_unknown,
        COUNT(*) FILTER (
            WHERE results.n_out_of_scale > 0 OR results.n_means_out_of_range > 0
        ) AS n_out_of_scale
    FROM results
    GROUP BY
        results.experiment,
        results.protocol,
        results.split,
        results.backbone,
        results.baseline
)
