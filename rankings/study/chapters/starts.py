"""What several starts for one vote buy, per vote and per clip."""

from __future__ import annotations

import math

from rankings.study.chapters.form import SEED, Chapter, table
from rankings.study.starts import Clips, Needed, lucky, misled, needed, orders

STARTS = (1, 3, 5)
ERRORS = (0.1, 0.3)
WANTED = 0.95
PAIRS = 200_000
ABOUT = f"""
## Several starts
Seven policies whose success is random at every start, both sides from the same starts; a vote names the side that
reached the goal from more starts, neither where that is equal, and careless votes are random. Votes until the
mean of Spearman's correlation with the skills is {WANTED}; the turns played are votes times starts. The last column: of
the careful votes that name a side, the share that names the less skilled one.
"""
ALONE = """
Of single clips that reach the goal, {alone:.1f} % are of a policy that reaches it from neither of two more starts.
"""


def chapter(repeats: int) -> Chapter:
    rows = [_row(Clips(starts=starts, error=error), repeats) for error in ERRORS for starts in STARTS]
    heads = ("careless votes", "starts for each vote", f"votes to {WANTED}", "95 %", "turns played", "wrong side named")
    alone = 100 * lucky(clips=Clips(starts=3), number=PAIRS, seed=SEED)
    return Chapter(f"{ABOUT}\n{table(heads, rows)}\n{ALONE.format(alone=alone)}", {})


def _row(clips: Clips, repeats: int) -> tuple[object, ...]:
    found = needed(orders(clips, repeats=repeats, seed=SEED), WANTED, seed=SEED)
    wrong = f"{100 * misled(clips, pairs=PAIRS, seed=SEED):.1f} %"
    doubt = f"{_count(found.low)} to {_count(found.high)}"
    return f"{100 * clips.error:.0f} %", clips.starts, _count(found.votes), doubt, _turns(found, clips), wrong


def _turns(found: Needed, clips: Clips) -> str:
    return _count(found.votes * clips.starts)


def _count(votes: float) -> str:
    return f"{votes:,.0f}" if math.isfinite(votes) else "not reached"
