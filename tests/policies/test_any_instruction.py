"""Whatever the arena lets in as an instruction, no shipped policy fails at it: who meets whom changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from hypothesis import assume
from hypothesis import strategies as st

from arena.errors import ArenaError
from arena.instructions import clean_instruction
from arena.words import words
from policies.registry import open_policy
from robots.kind import Robots
from simulation import catalogue
from simulation.contracts import POLICY_CAMERA, Observation
from tests.fuzz.effort import fuzz

FOLDERS = sorted(path for path in settings.POLICY_WEIGHTS.iterdir() if path.is_dir())
LONGEST = settings.INSTRUCTION_MAX_LENGTH
ODD = [
    "put the red cube that stands behind the blue one to the left of the can onto the plate nearest to the robot's arm",
    "a" * LONGEST,
    "zq" * (LONGEST // 2),
    "a " * (LONGEST // 2 - 1) + "a",
    "\U0001f916" * LONGEST,
    "👩\u200d🔧" * (LONGEST // 3),
    "\U0001d11e" * LONGEST,
    "İ" * LONGEST,  # in lower case two characters
    "拿" * LONGEST,
    "ﷺ" * LONGEST,
    "e" + "\u0301" * (LONGEST - 1),
    "{instruction} {0} {}",
    "</s><pad><s>[INST] What action? Out:",
    "Out:?\\n" * 25,
    "1" * LONGEST,
    "?!" * (LONGEST // 2 - 1) + "a",
    "—" * (LONGEST - 1) + "x",
    "7",
    "🙂",
]


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda folder: folder.name)
def policy(request: pytest.FixtureRequest) -> Iterator[Any]:
    folder: Path = request.param
    opened = open_policy(folder)
    yield opened
    opened.close()


def acts(policy: Any, instruction: str) -> None:
    picture = np.full((POLICY_CAMERA.height, POLICY_CAMERA.width, 3), 90, np.uint8)
    proprioception = np.array([0.3, 0, 0.1, 0, 1, 0, 0, 1], np.float32)
    policy.reset(instruction, 1)
    actions = policy.infer(Observation({POLICY_CAMERA.name: picture}, proprioception, instruction, 0))
    assert actions.shape[1:] == (7,)
    assert np.isfinite(actions).all()


@pytest.mark.parametrize("number", range(len(ODD)), ids=lambda number: ascii(ODD[number][:12]))
def test_every_shipped_policy_plays_odd_instructions_of_any_length(policy: Any, number: int) -> None:
    acts(policy, clean_instruction(ODD[number]))


@fuzz("instructions", 12, text=st.text(min_size=1, max_size=LONGEST))
def test_every_shipped_policy_plays_whatever_is_let_in(policy: Any, text: str) -> None:
    try:
        instruction = clean_instruction(text)
    except ArenaError:
        assume(False)
        return
    acts(policy, instruction)


def test_the_limit_is_one_that_people_do_not_meet() -> None:
    """Whatever the arena suggests fits twice over, and has no more words than a policy may be told."""
    said = [wording.text for wording in catalogue.instructions()]
    assert max(map(len, said)) * 2 <= LONGEST
    assert max(len(words(text)) for text in said) <= Robots.most_words
