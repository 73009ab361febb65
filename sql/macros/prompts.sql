-- prompts(root): the messages sent to the backbone for each sample, read from the warehouse's Parquet files, since
--     the database does not hold them. Restrict it by the keys, which are folders, so that only those files are read.
-- grain: sample
-- parameter root: The path of the warehouse's folder `parquet`.
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column baseline: The memory system.
-- column group_id: The five keys joined by '/'.
-- column dataset: The dataset as published.
-- column test_idx: The sample's index inside its dataset.
-- column messages: The messages in order, each with role and content; NULL where not a list.
-- column residue: What of the published record does not fit the columns, as JSON; NULL where all of it fits.
SELECT
    prompts.experiment,
    prompts.backbone,
    prompts.split,
    prompts.collection,
    prompts.baseline,
    prompts.group_id,
    prompts.dataset,
    prompts.test_idx,
    prompts.messages,
    prompts.residue
FROM
    READ_PARQUET(
        CONCAT(root, '/prompts/*/*/*/*/*/part-0.parquet'), hive_partitioning = TRUE, hive_types_autocast = FALSE
    ) AS prompts
