"""These tests need LIBERO's scenes: `make test-libero` runs them. Elsewhere they are not collected."""

from __future__ import annotations

from simulation import optional_rows

collect_ignore_glob = [] if optional_rows.is_installed() else ["test_*.py"]
