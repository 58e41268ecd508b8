"""What a client may say on a battle's socket: it is read-only, so nothing of it does anything, and too much ends it."""

from __future__ import annotations

import pytest
from channels.testing import WebsocketCommunicator

from arena.live.consumers import LONGEST_MESSAGE, MOST_MESSAGES, TOO_LARGE, TOO_MANY
from arena.visitors.cookies import COOKIE
from tests.arena.conftest import Visitor, _own_channel_layer, contestants, visitor  # noqa: F401 - fixtures
from tests.arena.sockets import Socket
from vlaarena.asgi import application


@pytest.fixture
def battle_id(visitor: Visitor) -> str:  # noqa: F811
    return visitor.open()


async def test_a_message_longer_than_any_question_ends_its_socket_alone(
    visitor: Visitor,  # noqa: F811
    battle_id: str,
) -> None:
    async with Socket(visitor, battle_id) as other, Socket(visitor, battle_id) as socket:
        await other.next()
        await socket.next()
        await socket.wire.send_to(text_data="x" * (LONGEST_MESSAGE + 1))
        assert await socket.wire.receive_output(5) == {"type": "websocket.close", "code": TOO_LARGE}
        await other.ask_for_snapshot()
        assert (await other.next())["type"] == "snapshot"


async def test_a_flood_of_questions_ends_its_socket_alone(visitor: Visitor, battle_id: str) -> None:  # noqa: F811
    async with Socket(visitor, battle_id) as other, Socket(visitor, battle_id) as socket:
        await other.next()
        await socket.next()
        for _ in range(MOST_MESSAGES + 1):
            await socket.ask_for_snapshot()
        answers = [await socket.wire.receive_output(5) for _ in range(MOST_MESSAGES + 1)]
        assert {answer["type"] for answer in answers[:-1]} == {"websocket.send"}
        assert answers[-1] == {"type": "websocket.close", "code": TOO_MANY}
        await other.ask_for_snapshot()
        assert (await other.next())["type"] == "snapshot"


@pytest.mark.parametrize("path", ["/ws/", "/ws/battles/", "/ws/battles/x/y/", "/", "/ws/battles/%0a/", "/ws/admin/"])
async def test_a_socket_to_nowhere_is_refused(visitor: Visitor, path: str) -> None:  # noqa: F811
    cookie = visitor.client.cookies.get(COOKIE)
    headers = [(b"origin", b"http://testserver"), (b"host", b"testserver")]
    if cookie:
        headers.append((b"cookie", f"{COOKIE}={cookie.value}".encode()))
    wire = WebsocketCommunicator(application, path, headers=headers)
    connected, _ = await wire.connect(timeout=5)
    if connected:
        assert await wire.receive_output(5) == {"type": "websocket.close", "code": 4404}
    await wire.disconnect()
