"""Votes and physics, when voters differ."""

from __future__ import annotations

from rankings.study.agreeing import Judges, held, truth
from rankings.study.chapters.form import SEED, Chapter

SIZES = ((60, 6), (200, 8), (200, 20), (200, 60), (1000, 20), (1000, 100), (5000, 100), (5000, 1000), (20_000, 2000))
CROWDS = {"strong tastes": Judges(), "voters alike": Judges(0.0, (1.5, 0.0), (-1.0, 0.0))}

TEXT = """
## Agreement of votes and physics
Eight policies. With strong tastes, voters have standard deviations of 300 points per policy, of 1.0 in the log odds
that they give to reaching the goal (1.5 on average), and of 1.0 in those of a tie; kappa is then {kappa:.3f}
and the share against {share:.3f} among infinitely many voters. Held: in how many of {repeats} arenas the 95 % interval
holds these values. Wanted: 93 to 97 %.

| crowd | votes | voters | kappa: held | mean half-width | share against: held | mean half-width |
|---|---|---|---|---|---|---|
{rows}
"""


def chapter(repeats: int) -> Chapter:
    rows = []
    for name, judges in CROWDS.items():
        for votes, voters in SIZES:
            found = held(judges, votes, voters, repeats=repeats, seed=SEED)
            rows.append(
                f"| {name} | {votes} | {voters} | {100 * found.kappa:.1f} % | {found.kappa_width:.3f}"
                f" | {100 * found.against:.1f} % | {found.against_width:.3f} |"
            )
    kappa, share = truth(Judges(), SEED)
    return Chapter(TEXT.format(kappa=kappa, share=share, repeats=repeats, rows="\n".join(rows)), {})
