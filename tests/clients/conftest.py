"""What tests of the client share with those of the arena."""

from __future__ import annotations

from tests.arena.conftest import contestants  # noqa: F401 - a fixture
