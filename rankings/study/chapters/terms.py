"""Are side, order, length and success told apart from the policies?"""

from __future__ import annotations

import numpy as np

from rankings.analysis.terms import BEYOND
from rankings.study.chapters.form import Chapter, share, table
from rankings.study.episodes import FoundTerms, Leaning, found
from rankings.study.voters import Crowd

SETTINGS = {
    "nothing": Leaning(),
    "60 for the left side": Leaning(side=60),
    "60 for the left side, no tastes": Leaning(side=60, crowd=Crowd()),
    "-60 per doubling of length": Leaning(length=-60),
    "the same, the better policies being slower": Leaning(length=-60, slow=0.5),
    "60 left, 30 first, -40 per doubling, 120 for success": Leaning(side=60, order=30, length=-40, success=120),
    "the same by 60 voters": Leaning(side=60, order=30, length=-40, success=120, crowd=Crowd(60, 100)),
    "60 for the left side, all episodes equally long": Leaning(side=60, alike=True),
}

TEXT = """
## Terms beside the ratings
Eight policies, 3000 votes of 300 voters with tastes; the lengths of episodes are lognormal, a better policy reaches
the goal more often. Votes have the stated biases, in points. Error of each term: mean over {repeats} arenas, with
that mean's 95 % interval; in brackets how many of its 95 % intervals hold the truth. Wanted: no error, 93 to 97 %.

{terms}

The ratings with all else equal, success too. Held: intervals that hold the truth. Error: root of the mean square, with
terms and without. Tilt: by how much ratings of a policy that is better by one standard deviation are too high on
average, with terms and without:

{ratings}
"""


def chapter(repeats: int) -> Chapter:
    arenas = {name: [found(way, seed) for seed in range(repeats)] for name, way in SETTINGS.items()}
    return Chapter(
        TEXT.format(
            repeats=repeats,
            terms=table(
                ("votes lean by", *BEYOND),
                [(name, *(_term(each, term) for term in BEYOND)) for name, each in arenas.items()],
            ),
            ratings=table(
                ("votes lean by", "held", "error", "error without", "tilt", "tilt without"),
                [(name, *_ratings(each)) for name, each in arenas.items()],
            ),
        ),
        {},
    )


def _term(arenas: list[FoundTerms], name: str) -> str:
    known = [each.terms[name] for each in arenas if each.terms[name] is not None]
    if not known:
        return "unknown"
    errors, held = zip(*(each for each in known if each is not None), strict=True)
    doubt = 1.96 * float(np.std(errors)) / np.sqrt(len(errors))
    beside = "" if len(known) == len(arenas) else f", unknown in {len(arenas) - len(known)}"
    return f"{np.mean(errors):.1f} ± {doubt:.1f} ({share(sum(held), len(held))}{beside})"


def _ratings(arenas: list[FoundTerms]) -> list[str]:
    held = np.concatenate([each.holds for each in arenas])
    errors = (np.sqrt(np.mean(np.square([getattr(each, way) for each in arenas]))) for way in ("bias", "plain"))
    tilts = (np.mean([getattr(each, way) for each in arenas]) for way in ("tilt", "plain_tilt"))
    return [f"{100 * held.mean():.1f} %", *(f"{value:.1f}" for value in (*errors, *tilts))]
