-- reference_datasets: the datasets: what they ask and how they are scored.
-- title: The datasets
-- grain: dataset_group
-- chunk: none
-- reason: none
-- column dataset_group: The dataset, Locomo-0..9 as one.
-- column language: en or zh.
-- column main_metric: The metric that its score is; missing for datasets with a merged judge score.
-- column score_min: Lower end of the score's scale.
-- column score_max: Upper end of it.
-- column domain: The collection that holds it in the split domain.
-- column task: The collection that holds it in the split task.
-- column description: What the dataset asks.
SELECT
    datasets.dataset_group,
    MIN(datasets.language) AS language,
    MIN(datasets.main_metric) AS main_metric,
    MIN(datasets.score_min) AS score_min,
    MAX(datasets.score_max) AS score_max,
    MIN(datasets.domain) AS domain,
    MIN(datasets.task) AS task,
    MIN(datasets.description) AS description
FROM datasets
WHERE datasets.dataset_group IN (SELECT dataset_results.dataset_group FROM dataset_results)
GROUP BY datasets.dataset_group
ORDER BY datasets.dataset_group
