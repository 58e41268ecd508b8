"""Write the words that lie one letter beside those of instructions: a slip is mended only where there is no doubt.

`PYTHONPATH=. .venv/bin/python scripts/near_words.py WORDLIST` after a change of the catalogue's words, with a list of
English words (Debian's package wamerican has one). Words that are not in the written file are never mended.
"""

from __future__ import annotations

import sys
from pathlib import Path

from simulation import catalogue
from simulation.matching import SHORTEST_SLIP, one_slip

HEAD = """# Words of instructions in which one wrong letter is mended, each with the English words that are as near to
# it: those are never taken for it. Written by scripts/near_words.py.
"""


def main() -> None:
    text = Path(sys.argv[1]).read_text("utf-8")
    english = sorted({word for word in map(str.casefold, text.split()) if word.isascii() and word.isalpha()})
    ours = set().union(*(catalogue.matcher(scene.id).known for scene in catalogue.scenes()))
    rows = []
    for word in sorted(word for word in ours if len(word) >= SHORTEST_SLIP and word.isalpha()):
        near = [other for other in english if len(other) >= SHORTEST_SLIP and one_slip(other, word)]
        rows.append(f"- {word}: [{', '.join(near)}]\n")
    (catalogue.FOLDER / "near_words.yaml").write_text(HEAD + "".join(rows), "utf-8")


if __name__ == "__main__":
    main()
