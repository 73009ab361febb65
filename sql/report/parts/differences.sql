CAST(COUNT(*) AS BIGINT) AS n,
    CAST(COUNT(*) FILTER (WHERE paired.difference > 1e-9) AS BIGINT) AS wins,
    CAST(COUNT(*) FILTER (WHERE ABS(paired.difference) <= 1e-9) AS BIGINT) AS ties,
    CAST(COUNT(*) FILTER (WHERE paired.difference < -1e-9) AS BIGINT) AS losses,
    CAST(AVG(paired.minmax_difference) AS DOUBLE) AS minmax_difference,
    CAST(
        CASE
            WHEN COUNT(paired.minmax_difference) >= 5
                THEN
                    AVG(paired.minmax_difference)
                    - 1.96 * STDDEV_SAMP(paired.minmax_difference) / SQRT(COUNT(paired.minmax_difference))
        END AS DOUBLE
    ) AS minmax_low,
    CAST(
        CASE
            WHEN COUNT(paired.minmax_difference) >= 5
                THEN
                    AVG(paired.minmax_difference)
                    + 1.96 * STDDEV_SAMP(paired.minmax_difference) / SQRT(COUNT(paired.minmax_difference))
        END AS DOUBLE
    ) AS minmax_high
