"""Close races, and who decides them."""

from __future__ import annotations

from rankings.study.chapters.form import SEED, Chapter
from rankings.study.removing import FoundMovers, Race, compared

RACES = {
    Race(10, 1000, 60): 1,
    Race(10, 4000, 200): 1,
    Race(10, 4000, 200, spread=20): 1,
    Race(10, 4000, 200, robots=3): 5,
    Race(30, 20_000, 1000, spread=20): 10,
    Race(30, 100_000, 5000, spread=20): 50,
}
"""And by what its repeats are divided: leaving out everybody takes long."""

TEXT = """
## Influence of single voters
Close races: of {arenas} arenas each, the one with the closest gap in the top three. Movers: voters without
whom, each alone, the top three change, found by leaving out each voter with a new fit. Wrong: voters reported who are
no movers. Looked at: the most voters for whom the report makes a new fit.

| policies | robots | votes | voters | races | movers | found | wrong | looked at | complete |
|---|---|---|---|---|---|---|---|---|---|
{rows}
"""


def chapter(repeats: int) -> Chapter:
    rows = [_row(race, max(1, repeats // part)) for race, part in RACES.items()]
    return Chapter(TEXT.format(arenas=next(iter(RACES)).arenas, rows="\n".join(rows)), {})


def _row(race: Race, repeats: int) -> str:
    all_found = [compared(race, seed=SEED + number) for number in range(repeats)]
    movers, found, wrong, complete = (_sum(all_found, name) for name in ("movers", "found", "wrong", "complete"))
    looked_at = max(each.looked_at for each in all_found)
    about = (
        f"| {race.policies} | {race.robots} | {race.votes} | {race.voters} | {repeats} | {movers} | {found} | {wrong} "
    )
    return f"{about}| {looked_at} | {complete} of {repeats} |"


def _sum(found: list[FoundMovers], name: str) -> int:
    return int(sum(getattr(each, name) for each in found))
