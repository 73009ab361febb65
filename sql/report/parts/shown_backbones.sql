shown_backbones AS (
    SELECT
        counted.experiment,
        counted.split,
        counted.collection,
        ARG_MAX(counted.backbone, (counted.n_answered, counted.backbone)) AS backbone
    FROM (
        SELECT
            coverage.experiment,
            coverage.split,
            coverage.collection,
            coverage.backbone,
            COUNT(*) FILTER (WHERE coverage.has_predictions) AS n_answered
        FROM coverage
        GROUP BY coverage.experiment, coverage.split, coverage.collection, coverage.backbone
    ) AS counted
    GROUP BY counted.experiment, counted.split, counted.collection
)
