"""TrueSkill over the games in their order, with SnakeBench's parameters (decision: wormarena)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import trueskill

MU, SIGMA = 25.0, 25.0 / 3.0
SHOWN_PER_POINT = 50.0
RANKS = {"won": 0, "tied": 1, "lost": 2}
SCALE = trueskill.TrueSkill(mu=MU, sigma=SIGMA, beta=25.0 / 6.0, tau=0.5, draw_probability=0.1, backend=None)


class Skill(NamedTuple):
    mu: float = MU
    sigma: float = SIGMA

    @property
    def exposed(self) -> float:
        """What the model can do at least, very probably."""
        return self.mu - 3.0 * self.sigma

    @property
    def display(self) -> float:
        return SHOWN_PER_POINT * self.exposed


class Played(NamedTuple):
    """One game: the models in slots 0 and 1, and their results as the file says them."""

    a: str
    b: str
    result_a: str
    result_b: str


def rate(skills: dict[str, Skill], games: Iterable[Played]) -> None:
    """Take the games into the skills, one after another. Sides with the same result have drawn."""
    for game in games:
        before = [skills.get(name, Skill()) for name in (game.a, game.b)]
        groups = [(SCALE.create_rating(each.mu, each.sigma),) for each in before]
        (a,), (b,) = SCALE.rate(groups, ranks=[RANKS[game.result_a], RANKS[game.result_b]])
        if game.a == game.b:
            # Both slots are the same model: what one side gains, the other loses.
            skills[game.a] = Skill((a.mu + b.mu) / 2.0, (a.sigma + b.sigma) / 2.0)
        else:
            skills[game.a], skills[game.b] = Skill(a.mu, a.sigma), Skill(b.mu, b.sigma)
