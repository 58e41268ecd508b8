"""Closing calls at their agents beside everything else: how long a provider takes to let go is not to be seen."""

from __future__ import annotations

import asyncio
import logging

from voice.agents.base import Agent

log = logging.getLogger(__name__)
WITHIN_S = 20.0
_closing: set[asyncio.Task[None]] = set()
"""Tasks that nothing else refers to."""


async def in_background(agent: Agent) -> None:
    """Have it closed, and do not wait."""
    task = asyncio.create_task(_close(agent), name="closes a call")
    _closing.add(task)
    task.add_done_callback(_closing.discard)


async def _close(agent: Agent) -> None:
    try:
        async with asyncio.timeout(WITHIN_S):
            await agent.close()
    except TimeoutError:
        log.warning("an agent was not closed within %g s", WITHIN_S)
    except Exception:  # the task's edge: nobody waits for it
        log.exception("an agent could not be closed")
