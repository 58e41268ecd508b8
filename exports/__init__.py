"""Data that leaves the arena: signed battle bundles, preference pairs, hourly dumps and LeRobot datasets."""
