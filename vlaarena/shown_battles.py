"""The battles that the home page shows: one that is acted, and the latest as pictures. Only what anybody may watch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.templatetags.static import static
from django.urls import reverse

from arena import kinds
from arena.drawings.store import get_drawings
from arena.models import Attempt, AttemptStatus, Contestant, Side, Turn, Vote, VoteChoice, turns_of
from arena.store import StoreUnavailable
from policies.models import ROBOTS

LATEST = 4
PICTURE = "picture.webp"
CANDIDATES = 24
"""So many of the newest votes are looked through for a battle worth acting."""
SEEN = (
    *("episode_id", "side", "status", "expired_at", "success"),
    *(f"turn__{column}" for column in ("turn_id", "battle", "instruction", "instruction_hidden_at")),
)
"""What of an attempt and its turn is looked at."""
EXHIBITION = Path(settings.BASE_DIR, "static", "exhibition", "exhibition.json")
WON = {Side.LEFT: VoteChoice.LEFT_BETTER, Side.RIGHT: VoteChoice.RIGHT_BETTER}


@dataclass(frozen=True)
class ShownSide:
    """`model_id` is "" for a model that this arena does not list. `view`: the address of what can be seen of it."""

    side: str
    name: str
    model_id: str
    picture: str
    view: str
    success: bool | None
    won: bool


@dataclass(frozen=True)
class ShownBattle:
    """`page` and `vote` are "" for the exhibition, which nobody voted on."""

    instruction: str
    robot_id: str
    scene_id: str
    left: ShownSide
    right: ShownSide
    vote: str = ""
    page: str = ""

    @property
    def sides(self) -> tuple[ShownSide, ShownSide]:
        return self.left, self.right


def shown_battles() -> tuple[ShownBattle, list[ShownBattle]]:
    """The battle that is acted, and the latest others. Without a battle to act it is the exhibition."""
    votes = list(public_votes()[:CANDIDATES])
    turns = _complete_turns(votes)
    complete = [(vote, turns[vote.battle_id]) for vote in votes if vote.battle_id in turns]
    acted = min(_drawn(complete), key=_interest, default=None)  # of equals the newest
    others = [each for each in complete if each is not acted][:LATEST]
    return (_shown(*acted) if acted else exhibition()), [_shown(*each) for each in others]


def _drawn(candidates: list[tuple[Vote, Turn]]) -> list[tuple[Vote, Turn]]:
    """Those with a picture of each side: a picture is seen before anything moves. The latest get theirs when they are
    shown, because the page asks for them."""
    episodes = [attempt.episode_id for _, turn in candidates for attempt in turn.attempts.all()]
    if not episodes:
        return []
    try:
        drawn = get_drawings().drawn_of(episodes, PICTURE, kinds.get(ROBOTS).look)
    except StoreUnavailable:
        return []
    return [each for each in candidates if all(one.episode_id in drawn for one in each[1].attempts.all())]


def public_votes() -> QuerySet[Vote]:
    """Votes on robots' battles that may be shown to anybody, the newest first."""
    shown = Vote.objects.filter(kind=ROBOTS, battle__spoiled=False, battle__hidden_at=None)
    return shown.select_related("left_model", "right_model").order_by("-voted_at", "-id")


def _complete_turns(votes: list[Vote]) -> dict[str, Turn]:
    """By battle, the last turn whose recordings of both sides exist. One query."""
    judged = Attempt.objects.filter(turn__battle__in=[vote.battle_id for vote in votes], turn__is_fork=False)
    turns = turns_of(judged.select_related("turn").only(*SEEN).order_by("turn__seq", "side"))
    return {turn.battle_id: turn for turn in turns if all(map(_is_recorded, turn.attempts.all()))}


def _is_recorded(attempt: Attempt) -> bool:
    return attempt.status == AttemptStatus.COMPLETED and attempt.expired_at is None


def _interest(candidate: tuple[Vote, Turn]) -> int:
    """0 is best: one side reached the goal, and people said so. Then any goal reached, then the rest."""
    vote, turn = candidate
    reached = {attempt.side for attempt in turn.attempts.all() if attempt.success}
    if len(reached) == 1 and vote.vote == WON[Side(next(iter(reached)))]:
        return 0
    return 1 if reached else 2


def _shown(vote: Vote, turn: Turn) -> ShownBattle:
    attempts = {attempt.side: attempt for attempt in turn.attempts.all()}
    return ShownBattle(
        instruction=turn.public_instruction,
        robot_id=vote.setting,
        scene_id=vote.scene,
        left=_side(vote, attempts[Side.LEFT], vote.left_model),
        right=_side(vote, attempts[Side.RIGHT], vote.right_model),
        vote=vote.vote,
        page=reverse("shared-battle-page", args=[vote.battle_id]),
    )


def _side(vote: Vote, attempt: Attempt, model: Contestant) -> ShownSide:
    return ShownSide(
        side=attempt.side,
        name=model.name,
        model_id=model.pk,
        picture=reverse("episode-picture", args=[attempt.episode_id]),
        view=reverse("episode-view", args=[attempt.episode_id]),
        success=attempt.success,
        won=vote.vote == WON[Side(attempt.side)],
    )


def exhibition() -> ShownBattle:
    """The battle that ships with the arena (scripts/exhibit.py). Its models are named as this arena names them."""
    told = _exhibition()
    models = [told["sides"][side]["model_id"] for side in Side.values]
    names = dict(Contestant.objects.filter(pk__in=models).values_list("pk", "name"))
    left, right = (_exhibited(side, told["sides"][side], names) for side in Side.values)
    return ShownBattle(told["instruction"], told["robot_id"], told["scene_id"], left, right)


def _exhibited(side: str, told: dict[str, Any], names: dict[str, str]) -> ShownSide:
    model_id = told["model_id"]
    return ShownSide(
        side=side,
        name=names.get(model_id, told["name"]),
        model_id=model_id if model_id in names else "",
        picture=static(f"exhibition/{side}.webp"),
        view=static(f"exhibition/{side}.bin"),
        success=told["success"],
        won=False,
    )


@cache
def _exhibition() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(EXHIBITION.read_text("utf-8"))
    return told
