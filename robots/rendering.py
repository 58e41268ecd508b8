"""The render profile of a worker."""

from __future__ import annotations

import logging
import subprocess
import sys

from django.conf import settings

log = logging.getLogger(__name__)
TIMEOUT_S = 60.0


def probe_render_profile() -> str:
    """The profile of this worker's processes, found by a process of its own: an OpenGL context does not survive a fork.

    "" if it cannot be found.
    """
    command = [sys.executable, "-c", "from simulation.cameras import render_profile; print(render_profile())"]
    try:
        asked = subprocess.run(
            command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True, timeout=TIMEOUT_S
        )
    except (OSError, subprocess.SubprocessError) as error:
        log.error("The render profile of this worker could not be found: %s", error)
        return ""
    return asked.stdout.strip()
