"""`manage.py ranking_study`: simulate voters, and write what came out to docs/ranking-study.md with its plots."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.core.management.base import BaseCommand

from policies.measured import wilson
from rankings.crowds import HONEST, Honest, Stuffing, attack, ever_suspected, false_flags, held
from rankings.plots import Axes, plot
from rankings.ratings import CAP
from rankings.study import Coverage, Crowd, Setting, coverage, newcomer, spearman, stuffing

VOTES = (100, 300, 1000, 10_000)
TASTE, HEAVY = Crowd(1000, 100), Crowd(1000, 100, 0.44)
CAPS = (0, 50, 30, 20, 15, 10)
SEED = 1


class Command(BaseCommand):
    help = "Simulate voters and write the study of the ranking, with plots; fixed seeds."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repeats", type=int, default=200, help="simulated arenas per row (default %(default)d)")
        parser.add_argument("--only-crowds", action="store_true", help="print the chapter on crowds, and write nothing")
        parser.add_argument("--folder", type=Path, default=Path(settings.BASE_DIR, "docs"))

    def handle(self, *args: Any, **options: Any) -> None:
        repeats, folder = options["repeats"], options["folder"]
        if options["only_crowds"]:
            self.stdout.write(_crowds(repeats)[0])
            return
        (folder / "images").mkdir(parents=True, exist_ok=True)
        parts = [INTRODUCTION.format(repeats=repeats, cap=CAP)]
        for chapter in (_coverage, _stuffing, _newcomer, _order, _crowds):
            text, plots = chapter(repeats)
            parts.append(text)
            for name, drawing in plots.items():
                (folder / "images" / name).write_text(drawing, encoding="utf-8")
            self.stdout.write(text)
        (folder / "ranking-study.md").write_text("\n".join(parts), encoding="utf-8")


INTRODUCTION = """# Does the ranking keep its promises?

Made by `manage.py ranking_study --repeats {repeats}`; the same seeds give the same figures. True ratings are normal
with a spread of 150 points; ties take 35 % of the votes between equals unless said otherwise; a voter with a taste has
an own opinion of each policy, normal with 100 points; how much a voter votes is lognormal. All votes fall on one day,
so the cap of {cap} votes per voter and day binds. `tests/rankings/test_study.py` holds these promises with fewer
repeats.
"""
Chapter = tuple[str, dict[str, str]]


def _coverage(repeats: int) -> Chapter:
    plain = {votes: coverage(Setting(votes=votes, ties=0.0), repeats=repeats, seed=SEED) for votes in VOTES}
    tied = {votes: coverage(Setting(votes=votes), repeats=repeats, seed=SEED) for votes in VOTES}
    own = {votes: _with(TASTE, votes, repeats) for votes in (1000, 10_000)}
    heavy = {votes: _with(HEAVY, votes, repeats) for votes in (1000, 10_000)}
    open_to = coverage(Setting(votes=10_000, crowd=HEAVY), repeats=repeats, seed=SEED, cap=0)
    alone = coverage(Setting(votes=10_000, crowd=TASTE), repeats=repeats, seed=SEED, cap=0, cluster=False)
    rows = [
        *(("no ties, all voters different", votes, found) for votes, found in plain.items()),
        *(("ties, all voters different", votes, found) for votes, found in tied.items()),
        *(("voters with a taste", votes, found) for votes, found in own.items()),
        *(("the same, one voter casting 44 %", votes, found) for votes, found in heavy.items()),
        ("the same without a cap", 10_000, open_to),
        ("voters with a taste, each vote for itself", 10_000, alone),
    ]
    lines = [f"| {name} | {votes} | {_percent(found)} | {found.half_width:.0f} |" for name, votes, found in rows]
    table = "\n".join(["| votes by | votes | held | mean half-width |", "|---|---|---|---|", *lines])
    series = {
        "no ties": _points(plain),
        "ties": _points(tied),
        "taste, one voter casts 44 %": _points(heavy),
    }
    axes = Axes(
        "How often the 95 % interval holds the truth",
        "votes",
        "per cent",
        (1.8, 4.2),
        (88, 100),
        {float(np.log10(votes)): f"{votes}" for votes in VOTES},
        [88, 90, 93, 95, 97, 100],
    )
    drawing = plot(axes, series, band=(93, 97))
    text = f"\n## Intervals\nTen policies. Wanted: 93 to 97 %.\n\n{table}\n\n![Coverage](images/study-coverage.svg)\n"
    return text, {"study-coverage.svg": drawing}


def _with(crowd: Crowd, votes: int, repeats: int) -> Coverage:
    of_that_size = Crowd(max(10, crowd.voters * votes // 10_000), crowd.taste, crowd.heavy)
    return coverage(Setting(votes=votes, crowd=of_that_size), repeats=repeats, seed=SEED)


def _percent(found: Coverage) -> str:
    return f"{100 * found.held:.1f} %"


def _points(found: dict[int, Coverage]) -> list[tuple[float, float]]:
    return [(float(np.log10(votes)), 100 * each.held) for votes, each in found.items()]


def _stuffing(repeats: int) -> Chapter:
    seeds = range(min(repeats, 40))
    moved = {cap: [stuffing(honest=4000, stuffed=250, cap=cap, seed=seed) for seed in seeds] for cap in CAPS}
    rows = [f"| {cap or 'none'} | {np.mean(each):.1f} | {max(each):.1f} |" for cap, each in moved.items()]
    table = "\n".join(["| cap | mean | most |", "|---|---|---|", *rows])
    series = {"most": [(float(cap), max(each)) for cap, each in moved.items() if cap]}
    axes = Axes(
        "250 stuffed votes: how far a rating moves",
        "cap: counted votes per voter, board and day",
        "points",
        (0, 55),
        (0, 30),
        {float(cap): f"{cap}" for cap in CAPS if cap},
        [0, 10, 20, 30],
    )
    text = (
        "\n## A stuffer\nOne visitor votes 250 times in a day for one policy, beside 4000 honest votes on ten. Points\n"
        f"by which the most moved rating moves, over {len(seeds)} arenas; wanted: at most 10 with the published cap of"
        f"\n{CAP}.\n\n{table}\n\n![Stuffing](images/study-stuffing.svg)\n\n"
        "The cap is per day. Who spreads 250 votes over\n"
        "seventeen days has them all counted; the test for outliers and the influence report are there for that.\n"
    )
    return text, {"study-stuffing.svg": plot(axes, series, band=(0, 10))}


def _newcomer(repeats: int) -> Chapter:
    seeds = range(min(repeats, 40))
    series, rows = {}, []
    for name, planned in (("planned pairs", True), ("all pairs alike", False)):
        widths = np.array([newcomer(planned=planned, seed=seed) for seed in seeds])
        votes = 20 * np.arange(widths.shape[1])
        reached = [int(votes[np.argmax(each < 60)]) if (each < 60).any() else 0 for each in widths]
        within = np.mean([0 < each <= 260 for each in reached])
        rows.append(f"| {name} | {np.median(widths, axis=0)[13]:.0f} | {100 * within:.0f} % |")
        series[name] = [(float(x), float(y)) for x, y in zip(votes, np.median(widths, axis=0), strict=True) if x]
    axes = Axes(
        "A newcomer beside nine: median half-width",
        "votes cast on the board since it came",
        "points",
        (0, 400),
        (0, 250),
        {float(value): f"{value}" for value in range(0, 401, 100)},
        [0, 60, 100, 150, 200, 250],
    )
    head = "| pairs | median half-width after 260 votes | of arenas: 60 reached within 260 |\n|---|---|---|\n"
    text = (
        "\n## A newcomer\nNine policies have had 2000 votes, a tenth joins. Counted are all votes on the board from\n"
        f"then on; pairs are planned anew every 20. {len(seeds)} arenas.\n\n{head}"
        + "\n".join(rows)
        + "\n\n![Newcomer](images/study-newcomer.svg)\n"
    )
    return text, {"study-newcomer.svg": plot(axes, series)}


def _order(repeats: int) -> Chapter:
    rows = []
    for name, planned in (("planned pairs", True), ("all pairs alike", False)):
        mean, doubt = spearman(policies=7, votes=200, repeats=repeats, seed=SEED, planned=planned)
        rows.append(f"| {name} | {mean:.3f} ± {doubt:.3f} |")
    head = "| pairs | mean rank correlation |\n|---|---|\n"
    text = (
        "\n## The order\nSeven policies, 200 votes: Spearman's correlation of ratings with the truth,\n"
        "and how well its mean is known from these arenas. Wanted: 0.93.\n\n"
    )
    return text + head + "\n".join(rows) + "\n", {}


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
unequally: fresh cookies vote for the policy in the middle, all of their votes on its battles. In a quarter of the
honest battles physics is clear, and 85 % of the votes then agree with it; who agrees with physics votes for its winner
there.
{repeats} arenas each. Moved: the most moved rating, in points. Flagged: a campaign for that policy is named to
moderators, with so many of the cookies, and so many honest voters by mistake.

| votes | moved: mean | most | flagged (95 % interval) | cookies named | honest named |
|---|---|---|---|---|---|
{attacks}

The same beside 4000 honest votes within sixty days; all agree with physics. Four weeks ago: the last of the stuffed
votes was cast 28 days before the last honest one, and nobody is looked at as new any more. Founding: the cookies are
there from the first day of an arena of fourteen days, and nobody was there before them:

| votes | moved: mean | most | flagged (95 % interval) | cookies named | honest named |
|---|---|---|---|---|---|
{patient}

Of arenas without a stuffer, a campaign is named in {false} within fourteen days, and in
{later} within sixty. What the limits cost where there is no stuffer:

| honest votes | intervals hold the truth | mean half-width | without limits: held | mean half-width |
|---|---|---|---|---|
{sound}

Honest voters with tastes of 100 points, pairs drawn unequally, ever suspected after any of their votes, at any of ten
looks at the growing board:

| crowd | arenas | ever suspected (95 % interval) |
|---|---|---|
{suspected}
"""


def _crowds(repeats: int) -> Chapter:
    """The suspected take long: a tenth of the repeats."""
    attacks = [_attacked(name, way, HONEST, repeats) for name, way in ATTACKS.items()]
    patient = [_attacked(name, way, OLDER, repeats) for name, way in PATIENT.items()]
    patient.append(_attacked("250 by 17 cookies, 17 networks, founding", FOUNDING, HONEST, repeats))
    false, later = (
        sum(false_flags(seed=seed, crowd=crowd) > 0 for seed in range(repeats)) for crowd in (HONEST, OLDER)
    )
    sound = []
    for name, crowd in SOUND.items():
        (share, width), (before, narrower) = (held(repeats, crowd, limits=limits) for limits in (True, False))
        sound.append(f"| {name} | {100 * share:.1f} % | {width:.1f} | {100 * before:.1f} % | {narrower:.1f} |")
    suspected = []
    for name, crowd in CROWDS.items():
        found = [ever_suspected(seed=seed, crowd=crowd) for seed in range(max(1, repeats // 10))]
        suspected.append(f"| {name} | {len(found)} | {_share(*map(sum, zip(*found, strict=True)))} |")
    tables = {"attacks": attacks, "patient": patient, "sound": sound, "suspected": suspected}
    rows = {name: "\n".join(each) for name, each in tables.items()}
    return CROWD.format(repeats=repeats, false=_share(false, repeats), later=_share(later, repeats), **rows), {}


def _attacked(name: str, way: Stuffing, crowd: Honest, repeats: int) -> str:
    found = [attack(way, seed=seed, crowd=crowd) for seed in range(repeats)]
    moved = [each.moved for each in found]
    flagged = _share(sum(each.flagged for each in found), len(found))
    caught, others = (np.mean(column) for column in ([each.caught for each in found], [each.others for each in found]))
    return f"| {name} | {np.mean(moved):.1f} | {max(moved):.1f} | {flagged} | {caught:.1f} | {others:.1f} |"


def _share(part: int, whole: int) -> str:
    low, high = wilson(part, whole)
    return f"{100 * part / whole:.2f} % ({100 * low:.2f} to {100 * high:.2f}; {part} of {whole})"
