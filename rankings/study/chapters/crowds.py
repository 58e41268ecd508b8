"""Crowds of one: fresh cookies that push a policy."""

from __future__ import annotations

import numpy as np

from rankings.study.chapters.form import Chapter, share
from rankings.study.crowds import HONEST, Honest, Stuffing, attack, ever_suspected, false_flags, held

MOST = 30
AGREEING = ", agreeing with physics"
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
    "the same, one policy being ten days old": OLDER._replace(joined=50),
    "4000 within one day: everybody is new": HONEST._replace(days=1),
    "20,000 by 2000 voters within sixty days": Honest(20_000, 2000, days=60),
}
CROWDS = {
    "20,000 votes, 1500 voters, 10 policies": Honest(20_000, 1500),
    "20,000 votes, 400 voters, 10 policies": Honest(20_000, 400),
    "20,000 votes, 1000 voters, 30 policies": Honest(20_000, 1000, 30),
}


CROWD = """
## A crowd of one
Beside 4000 votes of 500 honest voters with tastes of 100 points on ten policies, within fourteen days, pairs drawn
unequally: fresh cookies vote for the policy in the middle, only on its battles. In a quarter of the honest battles
physics is clear, and 85 % of the votes then agree with it; a crowd that agrees with physics votes for the winner
there. {repeats} arenas each. Moved: the most moved rating, in points. Flagged: a campaign for that policy is reported
to moderators, with the numbers of its cookies and of honest voters reported by mistake.

| votes | moved: mean | most | flagged (95 % interval) | cookies named | honest named |
|---|---|---|---|---|---|
{attacks}

The same beside 4000 honest votes within sixty days; all agree with physics. Four weeks ago: the last of the stuffed
votes was cast 28 days before the last honest one, and no voter counts as new any more. Founding: the cookies are
there from the first day of an arena of fourteen days, before all other voters:

| votes | moved: mean | most | flagged (95 % interval) | cookies named | honest named |
|---|---|---|---|---|---|
{patient}

In arenas without a vote stuffer, a campaign is reported in {false} within fourteen days, and in
{later} within sixty. The cost of the limits in arenas without a vote stuffer:

| honest votes | intervals hold the truth | mean half-width | without limits: held | mean half-width |
|---|---|---|---|---|
{sound}

Honest voters with tastes of 100 points, pairs drawn unequally, ever suspected after any of their votes, at any of ten
looks at the growing board:

| crowd | arenas | ever suspected (95 % interval) |
|---|---|---|
{suspected}
"""


def chapter(repeats: int) -> Chapter:
    """At most MOST arenas a row; the suspected take long: a tenth of them."""
    repeats = min(repeats, MOST)
    attacks = [_attacked(name, way, HONEST, repeats) for name, way in ATTACKS.items()]
    patient = [_attacked(name, way, OLDER, repeats) for name, way in PATIENT.items()]
    patient.append(_attacked("250 by 17 cookies, 17 networks, founding", FOUNDING, HONEST, repeats))
    false, later = (
        sum(false_flags(seed=seed, crowd=crowd) > 0 for seed in range(repeats)) for crowd in (HONEST, OLDER)
    )
    sound = []
    for name, crowd in SOUND.items():
        (inside, width), (before, narrower) = (held(repeats, crowd, limits=limits) for limits in (True, False))
        sound.append(f"| {name} | {100 * inside:.1f} % | {width:.1f} | {100 * before:.1f} % | {narrower:.1f} |")
    suspected = []
    for name, crowd in CROWDS.items():
        found = [ever_suspected(seed=seed, crowd=crowd) for seed in range(max(1, repeats // 10))]
        suspected.append(f"| {name} | {len(found)} | {share(*map(sum, zip(*found, strict=True)))} |")
    tables = {"attacks": attacks, "patient": patient, "sound": sound, "suspected": suspected}
    rows = {name: "\n".join(each) for name, each in tables.items()}
    return Chapter(CROWD.format(repeats=repeats, false=share(false, repeats), later=share(later, repeats), **rows), {})


def _attacked(name: str, way: Stuffing, crowd: Honest, repeats: int) -> str:
    found = [attack(way, seed=seed, crowd=crowd) for seed in range(repeats)]
    moved = [each.moved for each in found]
    flagged = share(sum(each.flagged for each in found), len(found))
    caught, others = (np.mean(column) for column in ([each.caught for each in found], [each.others for each in found]))
    return f"| {name} | {np.mean(moved):.1f} | {max(moved):.1f} | {flagged} | {caught:.1f} | {others:.1f} |"
