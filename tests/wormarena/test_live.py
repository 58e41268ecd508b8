"""Games on open pages while they are played: what is told, to whom, and that no game waits for anybody."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from channels.testing import WebsocketCommunicator

from arena.live.chunk_cache import client
from tests.arena.conftest import _own_channel_layer
from tests.wormarena.files import Json
from vlaarena.asgi import application
from wormarena import playing
from wormarena.engine.game import Board, Played, play
from wormarena.engine.players import REFERENCE_PLAYERS, Player
from wormarena.live import telling
from wormarena.live.consumers import NOTHING_TO_SAY
from wormarena.live.telling import LONGEST_REASONS, Teller, live_game, shown_now
from wormarena.models import Game

__all__ = ["_own_channel_layer"]
pytestmark = [pytest.mark.engine, pytest.mark.django_db]
"""A socket's end looks at the connections of its thread, which an earlier test may have left open."""
BOARD = Board(5, 5, 2, 4)


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    client().delete(telling._key())
    yield
    client().delete(telling._key())


def seats() -> dict[str, Player]:
    return {"0": REFERENCE_PLAYERS["greedy"](1), "1": REFERENCE_PLAYERS["random"](2)}


def played(board: Board = BOARD) -> Played:
    return play(seats(), board, 1, time.time)


def plan(folder: Path) -> playing.Plan:
    return playing.Plan(("random", "greedy"), BOARD, 7, folder)


class Socket:
    """A browser's end."""

    def __init__(self) -> None:
        headers = [(b"origin", b"http://testserver"), (b"host", b"testserver")]
        self.wire = WebsocketCommunicator(application, "/ws/wormarena/", headers=headers)

    async def __aenter__(self) -> Socket:
        await self.wire.connect(timeout=5)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.wire.disconnect()

    async def next(self) -> Json:
        message: Json = await self.wire.receive_json_from(timeout=5)
        return message


def test_what_is_told_of_a_game_is_its_position_after_the_last_round() -> None:
    game = played()
    told = live_game("g", game, seats())
    assert (told["round"], told["maxRounds"], told["width"]) == (len(game.rounds) - 1, 4, 5)
    assert told["snakes"]["0"] == [list(cell) for cell in game.position.snakes["0"]]
    assert told["sides"]["0"]["move"] == game.rounds[-1].choices["0"].move
    assert told["sides"]["0"]["name"] == "greedy (reference player)"


def test_before_the_first_round_nobody_has_moved() -> None:
    game = played()
    told = live_game("g", Played(game.board, game.start, game.started_at), seats())
    assert (told["round"], told["sides"]["1"]["move"], told["sides"]["1"]["rationale"]) == (None, None, "")


async def test_a_page_sees_every_round_and_the_end() -> None:
    async with Socket() as socket:
        assert await socket.next() == {"type": "snapshot", "games": []}
        teller = Teller("g-live", seats())
        game = await asyncio.to_thread(play, seats(), BOARD, 1, time.time, teller.tell)
        await asyncio.to_thread(teller.end, game, "/wormarena/games/g-live")
        got = [await socket.next() for _ in range(len(game.rounds) + 2)]
    assert [message["type"] for message in got] == ["game"] * len(got)
    assert [message["game"]["round"] for message in got] == [None, *range(len(game.rounds)), len(game.rounds) - 1]
    last = got[-1]["game"]
    assert (last["ended"], last["replay"]) == (True, "/wormarena/games/g-live")
    assert {side["result"] for side in last["sides"].values()} <= {"won", "lost", "tied"}


async def test_a_page_that_opens_late_sees_the_games_at_once_and_one_socket_sees_all() -> None:
    for game_id in ("g-1", "g-2"):
        await asyncio.to_thread(Teller(game_id, seats()).tell, played())
    async with Socket() as socket:
        snapshot = await socket.next()
    assert [game["gameId"] for game in snapshot["games"]] == ["g-1", "g-2"]


async def test_a_client_that_says_something_is_disconnected() -> None:
    async with Socket() as socket:
        await socket.next()
        await socket.wire.send_json_to({"type": "snapshot"})
        closed = await socket.wire.receive_output(timeout=5)
    assert (closed["type"], closed["code"]) == ("websocket.close", NOTHING_TO_SAY)


async def test_another_site_gets_no_socket() -> None:
    headers = [(b"origin", b"http://elsewhere"), (b"host", b"testserver")]
    wire = WebsocketCommunicator(application, "/ws/wormarena/", headers=headers)
    connected, _ = await wire.connect(timeout=5)
    assert not connected


def test_games_that_nobody_tells_of_any_more_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    Teller("g-old", seats()).tell(played(Board(5, 5, 2, 4, move_s=1)))
    assert len(shown_now()) == 1
    monkeypatch.setattr(telling, "SPARE_S", -2.0)
    Teller("g-old", seats()).tell(played(Board(5, 5, 2, 4, move_s=1)))
    assert shown_now() == []
    monkeypatch.setattr(telling, "SPARE_S", 30.0)
    Teller("g-new", seats()).tell(played())
    assert client().hkeys(telling._key()) == [b"g-new"]


def test_long_reasons_are_cut_for_the_page_and_whole_in_the_file() -> None:
    game = played()
    choice = game.rounds[-1].choices["0"]
    object.__setattr__(choice, "rationale", "x" * (LONGEST_REASONS + 1))
    assert len(live_game("g", game, seats())["sides"]["0"]["rationale"]) == LONGEST_REASONS


def test_a_game_goes_on_where_nobody_hears_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()

    def down() -> Any:
        asked.append("asked")
        raise redis.ConnectionError("down")

    monkeypatch.setattr(telling, "client", down)
    game, path = playing.play_game(plan(tmp_path))
    assert path.exists()
    assert len(game.rounds) > 1
    assert len(asked) == 1, "one failure is enough to know"


def test_a_game_in_the_watched_folder_counts_at_once_and_its_replay_is_linked(settings: Any, tmp_path: Path) -> None:
    settings.WORMARENA_FOLDER = tmp_path
    playing.play_game(plan(tmp_path))
    game = Game.objects.get()
    (told,) = shown_now()
    assert told["replay"] == f"/wormarena/games/{game.game_id}"


def test_a_game_in_another_folder_is_shown_without_a_replay(settings: Any, tmp_path: Path) -> None:
    settings.WORMARENA_FOLDER = tmp_path / "watched"
    playing.play_game(plan(tmp_path))
    (told,) = shown_now()
    assert (told["ended"], told["replay"], Game.objects.exists()) == (True, None, False)
