"""The catalogue's YAML: robots, scenes and tasks that keep to what they declare, or a CatalogueError."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
import yaml
from hypothesis import strategies as st

from simulation import catalogue
from simulation.catalogue_rows import CatalogueError, read_rows
from tests.fuzz.damage import damaged, damaged_bytes
from tests.fuzz.effort import fuzz

READERS = {"robots": catalogue.robot_from, "scenes": catalogue.scene_from, "tasks": catalogue.task_from}
FILES = {"robots": "robots.yaml", "scenes": "scenes.yaml", "tasks": "tasks/table.yaml"}
TEXTS = {name: (catalogue.FOLDER / path).read_text("utf-8") for name, path in FILES.items()}
ROWS = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{here}: &{here} [{', '.join([f'*{before}'] * 9)}]\n" for before, here in zip("abcdefgh", "bcdefghi", strict=True)
)


@fuzz("catalogue", 300, name=st.sampled_from(sorted(ROWS)), data=st.data())
def test_a_spoilt_entry_is_a_whole_one_or_refused(name: str, data: st.DataObject) -> None:
    row = data.draw(damaged(data.draw(st.sampled_from(ROWS[name]))))
    if not isinstance(row, dict):
        return
    try:
        found: Any = READERS[name](row)
    except CatalogueError:
        return
    assert isinstance(found.id, str)
    assert found.id
    if name == "tasks":
        assert found.slots
        assert found.max_steps >= 1
        assert found.timeout_s > 0
        assert found.hold_steps <= found.max_steps
        for template in found.templates:
            template.text.format(**found.slots[0])


@fuzz("catalogue", 150, text=st.one_of(damaged_bytes(TEXTS["robots"].encode()), st.binary(max_size=60)))
def test_a_spoilt_file_is_a_list_of_entries_or_refused(text: bytes) -> None:
    try:
        rows = read_rows(text.decode("utf-8", "replace"), "robots.yaml")
    except CatalogueError:
        return
    assert all(isinstance(row, dict) for row in rows)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "- &a [*a]",
        "[" * 20_000,
        "- !!python/object:os.system {}",
        "a: 1",
        "- 1",
        "- 2001-99-99",
        "- !!int ''",
        "- {? [a]: 1}",
        "- !!bool maybe",
        "",
        "\x00",
        "- {<<: 1}",
    ],
)
def test_a_file_that_is_no_catalogue_is_refused_in_little_memory(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(CatalogueError, match=r"robots\.yaml"):
            read_rows(text, "robots.yaml")
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("values", {str(slot): ["red_cube"] * 50 for slot in range(9)}, "combinations"),
        ("values", [], "values: expected"),
        ("instruction_templates", [{"text": "lift the {object:>999999999}"}], "a name alone"),
        ("instruction_templates", [{"text": "lift the {thing}"}], "other slots"),
        ("instruction_templates", [{"text": "lift {"}], "instruction_templates"),
        ("max_steps", 10**9, "max_steps"),
        ("timeout_s", float("nan"), "timeout_s"),
        ("hold_steps", 51, "hold_steps: 51 are more than max_steps, 50"),
        ("hold_steps", 0, "hold_steps: expected a whole number"),
        ("suggested", "yes", "suggested: expected true or false"),
        ("understood", ["lift {object"], "understood"),
        ("understood", ["(lift|raise {object}"], "a bracket is not closed"),
        ("understood", ["(a|b)" * 12 + "{object}"], "forms"),
        ("values", {"object": ["teapot"]}, "unknown thing in scene table 'teapot'; known: blue_cylinder"),
        ("environment", {"robot": "widowx", "scene": "moon"}, "unknown scene"),
    ],
)
def test_a_task_that_could_not_be_played_is_refused_in_words(field: str, value: Any, message: str) -> None:
    with pytest.raises(CatalogueError, match=message):
        catalogue.task_from({**ROWS["tasks"][0], field: value})
