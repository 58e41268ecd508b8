"""Files that operators hand in: checked at once, kept as files, taken in by a worker."""

from __future__ import annotations

import logging
from typing import NamedTuple

from celery import current_app
from kombu.exceptions import OperationalError

from wormarena.game_file import GameRefused, parse
from wormarena.ingestion.watching import posted_folder
from wormarena.models import Game

log = logging.getLogger(__name__)
INGEST = "wormarena.ingest_games"
"""The permission to do it."""


class Taken(NamedTuple):
    game_id: str
    new: bool


def hand_in(raw: bytes) -> Taken:
    """Raises GameRefused. Without a queue the file waits for the next look at the folder."""
    facts = parse(raw)
    known = Game.objects.filter(pk=facts.game_id).values_list("content_hash", flat=True).first()
    if known == facts.content_hash:
        return Taken(facts.game_id, new=False)
    path = posted_folder() / f"snake_game_{facts.game_id}.json"
    if known is not None or (path.exists() and path.read_bytes() != raw):
        raise GameRefused("game.id", f"{facts.game_id} is known, with other content")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    beside.touch(mode=0o600)
    beside.write_bytes(raw)
    beside.replace(path)
    _tell_worker()
    return Taken(facts.game_id, new=True)


def _tell_worker() -> None:
    try:
        current_app.send_task("wormarena.look", ignore_result=True)
    except OperationalError as error:
        log.warning("The queue is down, the file is taken in later: %s", error)
