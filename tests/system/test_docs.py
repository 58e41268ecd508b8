"""The guides and the code refer to pages that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
DECISIONS = ROOT / "docs" / "decisions"
GUIDES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "frontend" / "README.md"]
CODE = [path for app in ("arena", "policies", "rankings", "robots", "simulation", "tests", "vlaarena", "voice")
        for path in (ROOT / app).rglob("*.py")]  # fmt: skip
SECTIONS = ("\nStatus: ", "\n## Context\n", "\n## Decision\n", "\n## Consequences\n")
CITED = re.compile(r"\bdecisions?: ([a-z]+(?:-[a-z]+)*(?:, [a-z]+(?:-[a-z]+)*)*)")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as a forge makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path) -> Iterator[str]:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if ":" not in link and (not target.exists() or (anchor and anchor not in anchors(target))):
            yield f"{page.relative_to(ROOT)}: {link}"


def test_every_relative_link_of_the_guides_leads_to_a_file_and_a_heading() -> None:
    assert [link for page in GUIDES for link in broken(page)] == []


def test_every_decision_that_code_cites_has_a_page() -> None:
    cited = {theme for path in CODE for found in CITED.findall(path.read_text()) for theme in found.split(", ")}
    assert cited
    assert cited <= {page.stem for page in DECISIONS.glob("*.md")}


def test_every_decision_page_stands_in_the_index_and_says_the_same_four_things() -> None:
    index = (DECISIONS / "README.md").read_text()
    for page in DECISIONS.glob("[!R]*.md"):
        assert f"]({page.name})" in index
        assert [section for section in SECTIONS if section not in page.read_text()] == [], page
