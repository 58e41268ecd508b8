"""One visitor, or one network, that votes again and again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankings.fit.bradley_terry import fit
from rankings.fit.ratings import CAP
from rankings.study.ballots import HONEST, Honest, Stuffing
from rankings.study.crowds import OLDER, attack
from rankings.study.form import Chapter, table
from rankings.study.plots import Axes, plot
from rankings.study.voters import TIES, Aim, chosen, columns, counted, equal_pairs, outcomes, truth
from rankings.trust.limits import WIDE

CAPS = (0, 50, 30, 20, 15, 10)
MOST = 40
"""Arenas: more tell little."""
LAST = HONEST.contestants - 1
TARGETS = {"the first": 0, "the one in the middle": None, "the last": LAST}
MIDDLE = Aim()
TEXT = """
## A vote stuffer
One visitor votes 250 times beside 4000 honest votes on ten contestants. Points by which the most affected rating moves,
over {arenas} arenas: mean, and most. Wanted as published: at most 10 for ratings known to within {wide:.0f} points;
less certain ratings may move farther, as the limit of a network grows with the square of the interval.

As published: the weights of newcomers, the cap of {cap} votes a day, and the limit of a network. Honest votes are
those of the chapter on crowds. In one day the visitor ignores success; over 17 days, and with 17 cookies, the visitor
votes for the side that alone succeeded where there is one, so as to be trusted:

{published}

The worst of all rows: {worst}, and of ratings known to within {wide:.0f} points {known}.

The cap alone, where no network is known and all votes weigh alike, all in one day:

{capped}

By cap, for the one in the middle against all others: {by_cap}.

![Stuffing](images/study-stuffing.svg)
"""


def stuffing(*, honest: int, stuffed: int, cap: int, aim: Aim = MIDDLE, seed: int) -> float:
    """Elo points by which the most moved rating moves when one visitor votes `stuffed` times for one contestant of ten,
    where nobody's network is known and the cap is all there is."""
    rng = np.random.default_rng(seed)
    contestants = HONEST.contestants
    theta = truth(contestants, rng)
    left, right = equal_pairs(contestants, honest + stuffed, rng)
    outcome = outcomes(theta[left] - theta[right], TIES, rng)
    voter = rng.integers(0, honest // 5, honest + stuffed)
    voter[honest:], outcome[honest:] = honest, 0
    left[honest:] = aim.at(theta)
    right[honest:] = aim.against(theta, stuffed, rng)
    votes = columns(left, right, outcome, voter)
    with_it, without = (fit(counted(contestants, each), cap=cap) for each in (votes, chosen(votes, slice(honest))))
    return float(np.abs(with_it.rating - without.rating).max())


def chapter(repeats: int) -> Chapter:
    seeds = range(min(repeats, MOST))
    published = {
        name: [attack(way, seed=seed, crowd=crowd, flagging=False) for seed in seeds]
        for name, (way, crowd) in _ways().items()
    }
    capped = {
        name: [stuffing(honest=4000, stuffed=250, cap=CAP, aim=aim, seed=seed) for seed in seeds]
        for name, aim in _aims().items()
    }
    by_cap = {cap: [stuffing(honest=4000, stuffed=250, cap=cap, seed=seed) for seed in seeds] for cap in CAPS}
    heads = ["votes", "mean", "most"]
    rows = [
        (name, *_points([one.moved for one in each]), f"{max(one.known for one in each):.1f}")
        for name, each in published.items()
    ]
    text = TEXT.format(
        arenas=len(seeds),
        cap=CAP,
        wide=WIDE,
        published=table([*heads, "most, of known ratings"], rows),
        worst=f"{max(one.moved for each in published.values() for one in each):.1f}",
        known=f"{max(one.known for each in published.values() for one in each):.1f}",
        capped=table(heads, [[name, *_points(each)] for name, each in capped.items()]),
        by_cap=", ".join(f"{cap or 'none'} {' to '.join(_points(each))}" for cap, each in by_cap.items()),
    )
    return Chapter(text, {"study-stuffing.svg": _drawing(by_cap)})


def _aims() -> dict[str, Aim]:
    found = {f"for {name}, against all": Aim(target) for name, target in TARGETS.items()}
    for name, target in TARGETS.items():
        for opponent, place in (("the best", 0), ("the worst", LAST)):
            if target != place:
                found[f"for {name}, always against {opponent} other"] = Aim(target, place)
    return found


def _ways() -> dict[str, tuple[Stuffing, Honest]]:
    found: dict[str, tuple[Stuffing, Honest]] = {}
    for name, aim in _aims().items():
        found[f"{name}, one day"] = Stuffing(250, 1, aim=aim), HONEST
    for name, target in TARGETS.items():
        found[f"against {name}, one day"] = Stuffing(250, 1, aim=Aim(target), down=True), HONEST
        for cookies in (1, 17):
            way = Stuffing(250, cookies, 1, 17, knowing=True, aim=Aim(target))
            found[f"for {name}, 17 days, {cookies} cookie{'s' * (cookies > 1)} of one network"] = way, OLDER
    found["for the last, always against the best other, 17 days"] = (
        Stuffing(250, 1, 1, 17, knowing=True, aim=Aim(LAST, 0)),
        OLDER,
    )
    return found


def _points(moved: Sequence[float]) -> list[str]:
    """Mean and most."""
    return [f"{np.mean(moved):.1f}", f"{max(moved):.1f}"]


def _drawing(by_cap: dict[int, list[float]]) -> str:
    series = {"most": [(float(cap), max(each)) for cap, each in by_cap.items() if cap]}
    axes = Axes(
        "250 stuffed votes: how far a rating moves by the cap alone",
        "cap: counted votes per voter, board and day",
        "points",
        (0, 55),
        (0, 30),
        {float(cap): f"{cap}" for cap in CAPS if cap},
        [0, 10, 20, 30],
    )
    return plot(axes, series, band=(0, 10))
