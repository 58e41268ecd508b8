"""What tests of the registry and of battles share with those of the arena."""

from __future__ import annotations

from tests.arena.conftest import _own_channel_layer  # noqa: F401 - every test needs it
