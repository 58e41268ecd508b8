"""Who plays next on a running ladder: the pair that has met least."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations
from random import Random

from wormarena.models import Matchup

Pair = tuple[str, str]


def next_pair(players: Mapping[str, str], random: Random) -> Pair:
    """Of players (what commands call them -> what statistics do) the two with the fewest games against each other, and
    among such pairs the two with the fewest games of this ladder; then by chance, also who gets slot 0. Raises
    ValueError for fewer than two."""
    if len(players) < 2:
        raise ValueError(f"a ladder needs two players; there is {', '.join(players) or 'none'}")
    met = _games(players.values())
    played = {name: sum(games for pair, games in met.items() if name in pair) for name in players.values()}

    def order(pair: Pair) -> tuple[int, int, float]:
        a, b = players[pair[0]], players[pair[1]]
        return met.get((a, b), 0), played[a] + played[b], random.random()

    a, b = min(combinations(sorted(players), 2), key=order)
    return (a, b) if random.random() < 0.5 else (b, a)


def _games(names: Collection[str]) -> dict[Pair, int]:
    """From either side. Games of a player against itself are no encounter."""
    rows = Matchup.objects.filter(model_name__in=names, opponent_name__in=names)
    found = rows.values_list("model_name", "opponent_name", "games")
    return {(model, opponent): games for model, opponent, games in found if model != opponent}
