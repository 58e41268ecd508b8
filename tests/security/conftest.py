"""The stage of the arena's tests: a visitor, two contestants, and rollouts played here and now."""

from __future__ import annotations

from tests.arena.conftest import _own_channel_layer, contestants, stage, visitor

__all__ = ["_own_channel_layer", "contestants", "stage", "visitor"]
