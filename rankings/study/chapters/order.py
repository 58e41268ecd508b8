"""How well few votes order some policies."""

from __future__ import annotations

from rankings.study.chapters.form import SEED, Chapter
from rankings.study.voters import spearman


def chapter(repeats: int) -> Chapter:
    rows = []
    for name, planned in (("planned pairs", True), ("all pairs alike", False)):
        mean, doubt = spearman(policies=7, votes=200, repeats=repeats, seed=SEED, planned=planned)
        rows.append(f"| {name} | {mean:.3f} ± {doubt:.3f} |")
    head = "| pairs | mean rank correlation |\n|---|---|\n"
    text = (
        "\n## The order\nSeven policies, 200 votes: Spearman's correlation of ratings with the truth,\n"
        "and how well its mean is known from these arenas. Wanted: 0.93.\n\n"
    )
    return Chapter(text + head + "\n".join(rows) + "\n", {})
