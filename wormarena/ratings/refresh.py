"""Brings the ratings of all models up to date with the games in the database."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Q, QuerySet

from wormarena.models import Game, LedgerState, Matchup, ModelAggregate, Participant
from wormarena.ratings.skill import Played, Skill, rate
from wormarena.ratings.strength import Pair, strengths

IN_ORDER = ("played_at", "finished_at", "game_id")
AT_ONCE = 2000


def refresh(state: LedgerState) -> None:
    """Fit strengths anew, and take the games into TrueSkill that are not in it yet. The caller holds `state`.

    A game that is older than one already rated means to go through all of them again: the order of the games counts,
    not that of their files' arrival.
    """
    models = {row.model_name: row for row in ModelAggregate.objects.all()}
    _write_strengths(models)
    _write_skills(models, state)
    ModelAggregate.objects.bulk_update(models.values(), COLUMNS, batch_size=200)


def start_again(state: LedgerState) -> None:
    """As if no game were rated."""
    state.rated_games, state.last_game_id = 0, ""
    state.last_played_at = state.last_finished_at = None


COLUMNS = [
    *("rating_mu", "rating_sigma", "rating_exposed", "rating_display"),
    *("strength", "strength_low", "strength_high", "component"),
]


def _write_strengths(models: dict[str, ModelAggregate]) -> None:
    rows = Matchup.objects.values_list("model_name", "opponent_name", "wins", "losses", "ties")
    found = strengths(Pair(*row) for row in rows)
    for name, model in models.items():
        own = found.get(name)
        model.strength = own["rating"] if own else None
        model.strength_low = own["low"] if own else None
        model.strength_high = own["high"] if own else None
        model.component = own["component"] if own else None


def _write_skills(models: dict[str, ModelAggregate], state: LedgerState) -> None:
    later = _later(state)
    all_later = state.rated_games + later.count() == Game.objects.count()
    games = later if all_later else Game.objects.all()
    skills = {name: Skill(row.rating_mu, row.rating_sigma) for name, row in models.items()
              if all_later and row.rating_mu is not None and row.rating_sigma is not None}  # fmt: skip
    if not all_later:
        state.rated_games = 0
    rate(skills, _played(games, state))
    for name, skill in skills.items():
        model = models[name]
        model.rating_mu, model.rating_sigma = skill
        model.rating_exposed, model.rating_display = skill.exposed, skill.display
    state.save()


def _later(state: LedgerState) -> QuerySet[Game]:
    """The games after the last one rated."""
    if not state.rated_games:
        return Game.objects.all()
    played, finished, game = state.last_played_at, state.last_finished_at, state.last_game_id
    return Game.objects.filter(
        Q(played_at__gt=played)
        | Q(played_at=played, finished_at__gt=finished)
        | Q(played_at=played, finished_at=finished, game_id__gt=game)
    )


def _played(games: QuerySet[Game], state: LedgerState) -> Iterator[Played]:
    """The games in their order; `state` keeps the last one."""
    ordered = games.order_by(*IN_ORDER)
    while True:
        page = list(ordered[:AT_ONCE])
        results = _results(page)
        for game in page:
            yield Played(game.model_a_name, game.model_b_name, *results[game.game_id])
        if not page:
            return
        state.rated_games += len(page)
        state.last_played_at, state.last_finished_at = page[-1].played_at, page[-1].finished_at
        state.last_game_id = page[-1].game_id
        ordered = _later(state).order_by(*IN_ORDER)


def _results(games: list[Game]) -> dict[str, tuple[str, str]]:
    """Game -> results of slots 0 and 1."""
    rows = Participant.objects.filter(game__in=[game.game_id for game in games])
    found = {(game, slot): result for game, slot, result in rows.values_list("game_id", "player_slot", "result")}
    return {game.game_id: (found[game.game_id, 0], found[game.game_id, 1]) for game in games}
