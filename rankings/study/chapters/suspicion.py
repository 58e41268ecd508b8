"""Who is suspected: honest voters of many kinds, and bots."""

from __future__ import annotations

from rankings.study.chapters.form import SEED, Chapter, share
from rankings.study.suspecting import BOTS, People, caught, ever_suspected
from rankings.trust.outliers import ALPHA

USUAL = People()
CROWDS = {
    "tastes of 100 points": USUAL,
    "tastes of 150 points": USUAL._replace(taste=150),
    "tastes of 200 points": USUAL._replace(taste=200),
    "tastes of 200 points, policies within 30": USUAL._replace(taste=200, spread=30),
    "twice the habits": USUAL._replace(side=0.3, even=1.0, bad=1.5),
    "3 policies, tastes of 150": USUAL._replace(policies=3, taste=150),
    "3 policies, 600 votes of 60 voters": USUAL._replace(policies=3, votes=600, voters=60),
    "300 votes of 40 voters, tastes of 150": USUAL._replace(votes=300, voters=40, taste=150),
    "30 policies, tastes of 150": USUAL._replace(policies=30, taste=150),
    "10 voters cast 500 votes each, tastes of 200": USUAL._replace(taste=200, heavy=10),
}
SIZES = (20, 30, 40, 80, 200)

TEXT = """
## Suspicion
Honest voters with tastes, habits and lognormal activity, pairs drawn unequally; 4000 votes of 300 voters on ten
policies unless said otherwise. Habits are differences between voters in the log odds of an even vote (standard
deviation 0.5), of both bad among these (0.8) and of the left side (0.15). Ever suspected: after any of their votes,
at any of {looks} looks at the growing board. Promised: at most {alpha:g} %.

| honest voters | ever suspected (95 % interval) |
|---|---|
{honest}

One bot among such voters, tastes of 100 points: suspected after so many votes, of {bots} boards each.

| bot | {sizes} |
|---|{lines}
{caught}
"""
LOOKS = 5


def chapter(repeats: int) -> Chapter:
    """It takes long: a tenth of the repeats."""
    boards = max(1, repeats // 10)
    return Chapter(
        TEXT.format(
            looks=LOOKS,
            alpha=100 * ALPHA,
            honest="\n".join(f"| {name} | {_suspected(people, boards)} |" for name, people in CROWDS.items()),
            bots=boards,
            sizes=" | ".join(f"{votes} votes" for votes in SIZES),
            lines="---|" * len(SIZES),
            caught="\n".join(_caught(bot, boards) for bot in BOTS),
        ),
        {},
    )


def _suspected(people: People, boards: int) -> str:
    found = [ever_suspected(people, seed=SEED + number, looks=LOOKS) for number in range(boards)]
    return share(*map(sum, zip(*found, strict=True)))


def _caught(bot: str, boards: int) -> str:
    rows = [sum(caught(USUAL, bot, votes, seed=SEED + number) for number in range(boards)) for votes in SIZES]
    return f"| {bot} | {' | '.join(map(str, rows))} |"
