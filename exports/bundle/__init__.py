"""Signed battle bundles: one file that anybody replays and ranks again without the arena's database."""
