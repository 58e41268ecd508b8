"""Recorded episodes as a LeRobotDataset, format v3.0 (huggingface/lerobot, `codebase_version` "v3.0").

`meta/info.json` declares the features, `meta/tasks.parquet` the instructions, `meta/episodes/` a row per episode,
`meta/stats.json` the statistics, `data/` a row per control step, and `videos/` the drawn states.
"""
