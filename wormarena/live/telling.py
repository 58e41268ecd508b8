"""Tells open pages of a game while it is played, each time the whole of what is shown: a message that is lost is made
good by the next one. The last one of each game is kept beside the channel layer for pages that open later."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from typing import cast

import redis
from django.conf import settings

from arena.live.chunk_cache import client
from arena.live.events import send_to_group
from wormarena.engine.game import Played
from wormarena.engine.players import Player
from wormarena.engine.rules import result_of
from wormarena.engine.writing import state_json
from wormarena.live.shapes import LiveGame, LiveSide

log = logging.getLogger(__name__)
GROUP = "wormarena.live"
LONGEST_REASONS = 4000
"""Characters of a move's reasons that are told; the replay has all."""
SPARE_S = 30.0
"""A game whose next round is later than this, after the time for its moves, is no longer shown."""
SHOWN_S = 60.0
"""So long pages that open see a game that has ended."""


class Teller:
    """Of one game. Stops at the first message that nobody takes: games are played without an arena, too."""

    def __init__(self, game_id: str, players: Mapping[str, Player]) -> None:
        self._id, self._players, self._heard = game_id, players, True

    def tell(self, game: Played) -> None:
        self._send(live_game(self._id, game, self._players), game.board.move_s + SPARE_S)

    def end(self, game: Played, replay: str | None) -> None:
        self._send({**live_game(self._id, game, self._players), **_ending(game, self._players, replay)}, SHOWN_S)

    def _send(self, told: LiveGame, kept_s: float) -> None:
        if self._heard:
            self._heard = _keep(told, time.time() + kept_s) and send_to_group(
                GROUP, {"type": "worm.game", "game": told}
            )


def live_game(game_id: str, game: Played, players: Mapping[str, Player]) -> LiveGame:
    state = state_json(game.position)
    return {
        "gameId": game_id,
        "width": game.board.width,
        "height": game.board.height,
        "maxRounds": game.board.max_rounds,
        "round": len(game.rounds) - 1 if game.rounds else None,
        "snakes": state["snakes"],
        "apples": state["apples"],
        "sides": {slot: _side(game, slot, player) for slot, player in players.items()},
        "ended": False,
        "replay": None,
    }


def shown_now() -> list[LiveGame]:
    """The games that are being played or have just ended, oldest first. Empty while the server is down."""
    try:
        kept = cast(dict[bytes, bytes], client().hgetall(_key()))
    except (redis.RedisError, OSError) as error:
        log.warning("The games that are played cannot be read: %r", error)
        return []
    found = [json.loads(value) for value in kept.values()]
    current = [each for each in found if each["until"] > time.time()]
    return [each["game"] for each in sorted(current, key=lambda each: each["began"])]


def _side(game: Played, slot: str, player: Player) -> LiveSide:
    last = game.rounds[-1] if game.rounds else None
    choice = last.choices[slot] if last else None
    return {
        "name": player.name,
        "score": game.position.scores[slot],
        "move": choice.move if choice else None,
        "rationale": choice.rationale[:LONGEST_REASONS] if choice else "",
        "death": last.deaths.get(slot) if last else None,
        "result": None,
    }


def _ending(game: Played, players: Mapping[str, Player], replay: str | None) -> LiveGame:
    results = result_of(game.position)
    sides = {slot: {**_side(game, slot, player), "result": results[slot]} for slot, player in players.items()}
    return cast(LiveGame, {"sides": sides, "ended": True, "replay": replay})


def _keep(told: LiveGame, until: float) -> bool:
    """Whether it was kept. Games that nobody told of for long are forgotten with it."""
    try:
        known = cast(dict[bytes, bytes], client().hgetall(_key()))
        kept = {name.decode(): json.loads(value) for name, value in known.items()}
        old = [name for name, each in kept.items() if each["until"] < time.time()]
        began = kept.get(told["gameId"], {}).get("began", time.time())
        if old:
            client().hdel(_key(), *old)
        client().hset(_key(), told["gameId"], json.dumps({"game": told, "until": until, "began": began}))
    except (redis.RedisError, OSError) as error:
        log.info("Nobody is told of this game: %r", error)
        return False
    return True


def _key() -> str:
    return f"{settings.PREFIX}wormarena.live"
