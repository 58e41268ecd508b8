"""What renders in this worker's processes."""

from __future__ import annotations

import logging
import subprocess
import sys

from django.conf import settings

log = logging.getLogger(__name__)
ANSWERED_WITHIN_S = 60.0


def ask_what_renders() -> str:
    """The profile of this worker's processes. In one of its own: what speaks to OpenGL does not survive a fork."""
    command = [sys.executable, "-c", "from simulation.cameras import render_profile; print(render_profile())"]
    try:
        asked = subprocess.run(
            command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True, timeout=ANSWERED_WITHIN_S
        )
    except (OSError, subprocess.SubprocessError) as error:
        log.error("What renders here could not be found out: %s", error)
        return ""
    return asked.stdout.strip()
