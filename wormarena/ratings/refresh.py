"""Brings the ratings of all models up to date with the games in the database.

Going through many games takes a while, in which nothing may wait for the database: ratings are computed first, and
written in a transaction of their own unless somebody else has written some meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from wormarena.models import Game, LedgerState, Matchup, ModelAggregate, Participant
from wormarena.ratings.skill import Played, Skill, rate
from wormarena.ratings.strength import Pair, strengths

IN_ORDER = ("played_at", "finished_at", "game_id")
AT_ONCE = 2000
SKILL = ["rating_mu", "rating_sigma", "rating_exposed", "rating_display"]
STRENGTH = ["strength", "strength_low", "strength_high", "component"]


@dataclass(frozen=True)
class Reached:
    """How far TrueSkill has gone: how many games, and the last one."""

    games: int = 0
    played_at: datetime | None = None
    finished_at: datetime | None = None
    game_id: str = ""

    @classmethod
    def of(cls, state: LedgerState) -> Reached:
        return cls(state.rated_games, state.last_played_at, state.last_finished_at, state.last_game_id)

    def past(self, page: list[Game]) -> Reached:
        last = page[-1]
        return Reached(self.games + len(page), last.played_at, last.finished_at, last.game_id)

    def columns(self) -> dict[str, Any]:
        return {
            "rated_games": self.games,
            "last_played_at": self.played_at,
            "last_finished_at": self.finished_at,
            "last_game_id": self.game_id,
        }


def refresh() -> None:
    """Fit strengths anew, and take the games into TrueSkill that are not in it yet.

    A game that is older than one already rated means to go through all of them again: the order of the games counts,
    not that of their files' arrival.
    """
    while True:
        before = Reached.of(LedgerState.load())
        skills, reached = _skills(before)
        with transaction.atomic():
            if Reached.of(LedgerState.load(lock=True)) == before:
                _write_skills(skills)
                _write_strengths()
                LedgerState.objects.update(**reached.columns())
                return


def start_again() -> None:
    """As if no game were rated."""
    LedgerState.objects.update(**Reached().columns())


def _skills(before: Reached) -> tuple[dict[str, Skill], Reached]:
    only_later = before.games + _later(before).count() == Game.objects.count()
    reached, skills = (before, _known_skills()) if only_later and before.games else (Reached(), {})
    while page := list(_later(reached).order_by(*IN_ORDER)[:AT_ONCE]):
        rate(skills, _played(page))
        reached = reached.past(page)
    return skills, reached


def _known_skills() -> dict[str, Skill]:
    rows = ModelAggregate.objects.values_list("model_name", "rating_mu", "rating_sigma")
    return {name: Skill(mu, sigma) for name, mu, sigma in rows if mu is not None and sigma is not None}


def _later(reached: Reached) -> QuerySet[Game]:
    """The games after the last one rated."""
    if not reached.games:
        return Game.objects.all()
    played, finished, game = reached.played_at, reached.finished_at, reached.game_id
    return Game.objects.filter(
        Q(played_at__gt=played)
        | Q(played_at=played, finished_at__gt=finished)
        | Q(played_at=played, finished_at=finished, game_id__gt=game)
    )


def _played(page: list[Game]) -> Iterator[Played]:
    rows = Participant.objects.filter(game__in=[game.game_id for game in page])
    found = {(game, slot): result for game, slot, result in rows.values_list("game_id", "player_slot", "result")}
    for game in page:
        results = found[game.game_id, 0], found[game.game_id, 1]
        yield Played(game.model_a_name, game.model_b_name, *results)


def _write_skills(skills: dict[str, Skill]) -> None:
    """A model whose sums somebody else is about to write gets a row before them."""
    ModelAggregate.objects.bulk_create(
        [
            ModelAggregate(
                model_name=name,
                rating_mu=each.mu,
                rating_sigma=each.sigma,
                rating_exposed=each.exposed,
                rating_display=each.display,
            )
            for name, each in sorted(skills.items())
        ],
        update_conflicts=True,
        unique_fields=["model_name"],
        update_fields=SKILL,
    )


def _write_strengths() -> None:
    rows = Matchup.objects.values_list("model_name", "opponent_name", "wins", "losses", "ties")
    found, models = strengths(Pair(*row) for row in rows), list(ModelAggregate.objects.all())
    for model in models:
        own = found.get(model.model_name)
        model.strength = own["rating"] if own else None
        model.strength_low = own["low"] if own else None
        model.strength_high = own["high"] if own else None
        model.component = own["component"] if own else None
    ModelAggregate.objects.bulk_update(models, STRENGTH, batch_size=200)
