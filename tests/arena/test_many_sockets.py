"""All sockets of a process may come or go at once, as when a proxy starts again."""

from __future__ import annotations

import asyncio

import pytest
from channels.layers import get_channel_layer

pytestmark = pytest.mark.engine
SOCKETS = 300
GROUP = "battle.of.many"


async def test_hundreds_join_hear_and_leave_at_once() -> None:
    layer = get_channel_layer()
    names = [await layer.new_channel() for _ in range(SOCKETS)]
    await asyncio.gather(*(layer.group_add(GROUP, name) for name in names))
    await layer.group_send(GROUP, {"type": "told"})
    heard = await asyncio.gather(*(layer.receive(name) for name in names))
    assert [message["type"] for message in heard] == ["told"] * SOCKETS
    await asyncio.gather(*(layer.group_discard(GROUP, name) for name in names))
    await layer.close_pools()
