"""What weights, caps and flags are worth against a crowd of one: fresh cookies that push a contestant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rankings.fit.bradley_terry import Fit, fit
from rankings.fit.ratings import CAP
from rankings.study import suspicion
from rankings.study.ballots import HONEST, Ballots, Honest, Stuffing, honest, stuffed, table_of, together
from rankings.study.form import Chapter, percent, share, table
from rankings.study.voters import columns, holds, name, population, truth
from rankings.tally.arrays import Floats
from rankings.tally.table import VoteTable
from rankings.trust.campaigns import Campaign, campaigns, strongest
from rankings.trust.limits import LATELY, WIDE

NEW_DAYS = (7, LATELY)
"""Voters first seen within so many days are looked at together."""


def fitted(contestants: int, ballots: Ballots, *, limits: bool = True) -> Fit:
    """The board as it would be published, or without the limits of networks and newcomers."""
    return fit(table_of(contestants, ballots, limits=limits).counts(), cap=CAP)


class Attack(NamedTuple):
    """Elo points by which the most moved rating moves: `moved` of all, `known` of those with a half-width up to WIDE
    without the stuffed votes. `flagged`: a campaign for the contestant that is pushed, with so many `caught` stuffers
    and honest `others`."""

    moved: float
    known: float
    flagged: bool
    caught: int
    others: int


def attack(way: Stuffing, *, seed: int, crowd: Honest = HONEST, flagging: bool = True) -> Attack:
    """One arena in which somebody pushes a contestant. Looking for campaigns (`flagging`) takes most of the time."""
    rng = np.random.default_rng(seed)
    theta = truth(crowd.contestants, rng)
    base = honest(theta, crowd, rng)
    both = together(base, stuffed(theta, way, rng, until=crowd.days))
    with_them, without = (fitted(crowd.contestants, each) for each in (both, base))
    points, pushed = np.abs(with_them.rating - without.rating), name(way.aim.at(theta))
    found = flags(crowd.contestants, both) if flagging else []
    found = [each for each in found if each.policy == pushed and each.favours != way.down]
    voters = {voter for each in found for voter in each.voters}
    caught = sum(voter > base.voter.max() for voter in voters)
    known = points[without.half_width <= WIDE].max(initial=0.0)
    return Attack(float(points.max()), float(known), bool(found), caught, len(voters) - caught)


def flags(contestants: int, ballots: Ballots) -> list[Campaign]:
    """The campaigns that would be found at the end."""
    table = table_of(contestants, ballots)
    return strongest(each for days in NEW_DAYS for each in _flags(table, ballots, days))


def _flags(table: VoteTable, ballots: Ballots, days: int) -> list[Campaign]:
    new = table.new_voters(days)
    board = fit(table.doubting(new).counts(), cap=CAP)

    def paces(members: Sequence[int]) -> tuple[Floats, Floats]:
        sums, number = (np.bincount(ballots.voter, each) for each in (np.log(ballots.dwell), np.ones(len(ballots))))
        pace = sums / np.maximum(number, 1.0)
        others = np.setdiff1d(table.numbers_of(new), members)
        return pace[list(members)], pace[others]

    return campaigns(table.counts(), board, table.numbers_of(new), paces)


def false_flags(*, seed: int, crowd: Honest = HONEST) -> int:
    """How many campaigns are found where there is none."""
    rng = np.random.default_rng(seed)
    return len(flags(crowd.contestants, honest(truth(crowd.contestants, rng), crowd, rng)))


def held(repeats: int, crowd: Honest = HONEST, *, limits: bool = True) -> tuple[float, float]:
    """The share of intervals that hold the truth where newcomers weigh little and networks are shared, and their mean
    half-width."""
    inside, widths = [], []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        theta = truth(crowd.contestants, rng)
        found = fitted(crowd.contestants, honest(theta, crowd, rng), limits=limits)
        inside.append(holds(found, population(theta, crowd.taste)))
        widths.append(found.half_width.mean())
    return float(np.mean(inside)), float(np.mean(widths))


def ever_suspected(*, seed: int, crowd: Honest, looks: int = 10) -> tuple[int, int]:
    """As `suspicion.ever_suspected`, of honest voters."""
    rng = np.random.default_rng(seed)
    ballots = honest(truth(crowd.contestants, rng), crowd, rng)
    cast = columns(ballots.left, ballots.right, ballots.outcome, ballots.voter)
    return suspicion.ever_suspected(
        cast, lambda end: table_of(crowd.contestants, ballots.of(slice(end))).counts(), looks=looks
    )


MOST = 30
AGREEING = ", agreeing with success"
ATTACKS = {
    "1000 by 82 cookies, one network, one day": Stuffing(1000, 82),
    "1000 by 82 cookies, one network, one day" + AGREEING: Stuffing(1000, 82, knowing=True),
    "1000 by 1000 cookies, one network, one day": Stuffing(1000, 1000),
    "250 by 17 cookies, 17 networks, one day": Stuffing(250, 17, 17),
    "250 by 17 cookies, 17 networks, one day" + AGREEING: Stuffing(250, 17, 17, knowing=True),
    "250 by 51 cookies, 17 networks, one day": Stuffing(250, 51, 17),
    "250 by 250 cookies, 17 networks, one day": Stuffing(250, 250, 17),
    "250 by 17 cookies, 17 networks, five days" + AGREEING: Stuffing(250, 17, 17, 5, knowing=True),
    "1000 by 82 cookies, one network, five days" + AGREEING: Stuffing(1000, 82, 1, 5, knowing=True),
}
OLDER = HONEST._replace(days=60)
PATIENT = {
    "250 by 17 cookies, 17 networks, five days": Stuffing(250, 17, 17, 5, knowing=True),
    "250 by 17 cookies, 17 networks, fourteen days": Stuffing(250, 17, 17, 14, knowing=True),
    "250 by 51 cookies, 17 networks, fourteen days": Stuffing(250, 51, 17, 14, knowing=True),
    "500 by 34 cookies, 34 networks, fourteen days": Stuffing(500, 34, 34, 14, knowing=True),
    "1000 by 82 cookies, one network, five days": Stuffing(1000, 82, 1, 5, knowing=True),
    "250 by 17 cookies, 17 networks, five days, four weeks ago": Stuffing(250, 17, 17, 5, knowing=True, ago=28),
}
FOUNDING = Stuffing(250, 17, 17, 14, knowing=True)
SOUND = {
    "4000 within fourteen days": HONEST,
    "4000 within sixty days": OLDER,
    "the same, one contestant being ten days old": OLDER._replace(joined=50),
    "4000 within one day: everybody is new": HONEST._replace(days=1),
    "20,000 by 2000 voters within sixty days": Honest(20_000, 2000, days=60),
}
CROWDS = {
    "20,000 votes, 1500 voters, 10 contestants": Honest(20_000, 1500),
    "20,000 votes, 400 voters, 10 contestants": Honest(20_000, 400),
    "20,000 votes, 1000 voters, 30 contestants": Honest(20_000, 1000, 30),
}


CROWD = """
## A crowd of one
Beside 4000 votes of 500 honest voters with tastes of 100 points on ten contestants, within fourteen days, pairs drawn
unequally: fresh cookies vote for the contestant in the middle, only on its battles. In a quarter of the honest battles
one side alone succeeds, and 85 % of the votes then agree with it; a crowd that agrees with success votes for that side.
{repeats} arenas each. Moved: the most moved rating, in points. Flagged: a campaign for that contestant is reported to
moderators, with the numbers of its cookies and of honest voters reported by mistake.

{attacks}

The same beside 4000 honest votes within sixty days; all agree with success. Four weeks ago: the last of the stuffed
votes was cast 28 days before the last honest one, and no voter counts as new any more. Founding: the cookies are
there from the first day of an arena of fourteen days, before all other voters:

{patient}

In arenas without a vote stuffer, a campaign is reported in {false} within fourteen days, and in
{later} within sixty. The cost of the limits in arenas without a vote stuffer:

{sound}

Honest voters with tastes of 100 points, pairs drawn unequally, ever suspected after any of their votes, at any of ten
looks at the growing board:

{suspected}
"""


def chapter(repeats: int) -> Chapter:
    """At most MOST arenas a row; the suspected take long: a tenth of them."""
    repeats = min(repeats, MOST)
    attacks = [_attacked(about, way, HONEST, repeats) for about, way in ATTACKS.items()]
    patient = [_attacked(about, way, OLDER, repeats) for about, way in PATIENT.items()]
    patient.append(_attacked("250 by 17 cookies, 17 networks, founding", FOUNDING, HONEST, repeats))
    false, later = (
        sum(false_flags(seed=seed, crowd=crowd) > 0 for seed in range(repeats)) for crowd in (HONEST, OLDER)
    )
    sound = []
    for about, crowd in SOUND.items():
        each = [held(repeats, crowd, limits=limits) for limits in (True, False)]
        sound.append((about, *(cell for inside, width in each for cell in (percent(inside), f"{width:.1f}"))))
    suspected = []
    for about, crowd in CROWDS.items():
        found = [ever_suspected(seed=seed, crowd=crowd) for seed in range(max(1, repeats // 10))]
        suspected.append((about, len(found), share(*map(sum, zip(*found, strict=True)))))
    held_heads = "intervals hold the truth", "mean half-width", "without limits: held", "mean half-width"
    return Chapter(
        CROWD.format(
            repeats=repeats,
            false=share(false, repeats),
            later=share(later, repeats),
            attacks=table(HEADS, attacks),
            patient=table(HEADS, patient),
            sound=table(("honest votes", *held_heads), sound),
            suspected=table(("crowd", "arenas", "ever suspected (95 % interval)"), suspected),
        )
    )


HEADS = "votes", "moved: mean", "most", "flagged (95 % interval)", "cookies named", "honest named"


def _attacked(about: str, way: Stuffing, crowd: Honest, repeats: int) -> tuple[str, ...]:
    found = [attack(way, seed=seed, crowd=crowd) for seed in range(repeats)]
    moved, _, flagged, caught, others = zip(*found, strict=True)
    points = f"{np.mean(moved):.1f}", f"{max(moved):.1f}"
    return about, *points, share(sum(flagged), repeats), f"{np.mean(caught):.1f}", f"{np.mean(others):.1f}"
