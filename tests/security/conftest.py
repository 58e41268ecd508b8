"""The fixtures of the arena's tests: a visitor, two contestants, and rollouts played here and now."""

from __future__ import annotations

from tests.arena.conftest import _own_channel_layer, contestants, runtime, visitor

__all__ = ["_own_channel_layer", "contestants", "runtime", "visitor"]
