"""Which seeds are for what."""

HELD_OUT_SEEDS = 1_000_000
"""Evaluation and studies use the seeds below, training's demonstrations those from here on."""
