"""Further sentences that ask for a task: what its `understood` patterns allow, with the nouns of training. For training
alone: no demonstration, table or page is named by them.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from simulation import catalogue
from simulation.catalogue_tasks import Task
from simulation.matching import THING, Tokens, expanded, usual

PER_WORDING = 0.5
"""Paraphrases of a filled task for each of its wordings to train with."""


def paraphrases(task_id: str, slots: Mapping[str, str]) -> list[str]:
    """Some of a filled task, drawn by its name, none of which is a wording of its own. What is kept out of training
    stays so, also where only articles or words that mean the same ("onto" for "on") differ.
    """
    task = catalogue.task(task_id)
    wordings = catalogue.phrasings(task_id, slots)
    known = {one.text for one in wordings}
    found = [text for text in _said(task, slots) if text not in known]
    most = int(PER_WORDING * sum(one.train for one in wordings))
    drawn = np.random.default_rng(zlib.crc32(f"{task_id} {dict(slots)}".encode())).permutation(len(found))[:most]
    return [found[place] for place in sorted(drawn.tolist())]


def _said(task: Task, slots: Mapping[str, str]) -> Iterator[str]:
    """Every sentence, each of them once."""
    names = [_names(task, name, value) for name, value in slots.items()]
    for form, *chosen in itertools.product(_forms(task.id), *names):
        yield form.format(**dict(zip(slots, chosen, strict=True)))


@cache
def _forms(task_id: str) -> list[str]:
    """What a task's patterns allow, each form once, but those that are kept out, whatever the order of the slots."""
    task = catalogue.task(task_id)
    kept_out = {_skeleton(each.text) for each in task.templates if not each.train}
    forms = (form for pattern in task.understood for form in expanded(pattern))
    return [*dict.fromkeys(" ".join(form.split()) for form in forms if _skeleton(form) not in kept_out)]


def _skeleton(form: str) -> Tokens:
    """Its usual words, with the same mark for every slot."""
    return tuple(THING if token.startswith("{") else token for token in usual(form, catalogue.words()))


def _names(task: Task, slot: str, value: str) -> Sequence[str]:
    if slot in task.words:
        return [each.text for each in task.words[slot][value] if each.train]
    return [f"the {noun.text}" for noun in catalogue.scene(task.scene_id).things[value].nouns if noun.train]
