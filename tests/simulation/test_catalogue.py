import pytest

from simulation import catalogue
from simulation.catalogue import task_for
from simulation.catalogue_rows import CatalogueError


@pytest.mark.parametrize(
    "wording",
    [
        "put the red cube on the left plate",
        "Put the RED cube, on the left plate!",
        "  please put a red block onto left plate",
    ],
)
def test_case_punctuation_spaces_and_articles_do_not_matter(wording: str) -> None:
    assert task_for(wording) == ("place", {"object": "red_cube", "target": "left_plate"})


def test_word_order_decides_what_goes_on_what() -> None:
    assert task_for("stack the red cube on the yellow cube") == ("stack", {"object": "red_cube", "base": "yellow_cube"})
    assert task_for("on the red cube stack the yellow cube") == ("stack", {"object": "yellow_cube", "base": "red_cube"})


def test_kept_out_wordings_are_understood_too() -> None:
    assert task_for("grab the green orb") == ("pick", {"object": "green_sphere"})


@pytest.mark.parametrize(
    "wording", ["", "dance", "put the red cube", "put the red cube on the red cube", "pick up red"]
)
def test_free_text_has_no_task(wording: str) -> None:
    assert task_for(wording) is None


def test_every_wording_means_what_it_was_made_from() -> None:
    for one in catalogue.instructions():
        assert task_for(one.text, catalogue.task(one.task_id).scene_id) == (one.task_id, dict(one.slots))


def test_kept_out_and_trained_wordings_share_nothing() -> None:
    for robot in catalogue.robots():
        of = [task for task in catalogue.tasks() if task.scene_id in robot.scenes]
        trained, kept_out = ({one.text for one in catalogue.instructions(train, of)} for train in (True, False))
        assert trained
        assert kept_out
        assert not trained & kept_out


def test_each_family_of_the_table_has_nine_trained_templates_or_more_and_every_one_some_that_are_kept_out() -> None:
    for task in catalogue.offered_tasks():
        several = task.scene_id == "table"
        assert sum(phrase.train for phrase in task.templates) >= (9 if several else 2)
        assert sum(not phrase.train for phrase in task.templates) >= (3 if several else 1)
    assert sum(phrase.train for task in catalogue.tasks() for phrase in task.templates) >= 10


def test_nothing_is_stacked_on_itself_or_on_a_sphere() -> None:
    for slots in catalogue.task("stack").slots:
        assert slots["object"] != slots["base"] != "green_sphere"
        assert slots["object"] != "green_sphere"


def test_suggestions_are_judged_and_lean_to_two_things() -> None:
    found = [task_for(text) for text in catalogue.scene("table").suggestions]
    assert None not in found
    assert sum(len(slots) == 2 for _, slots in filter(None, found)) > len(found) / 2


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(CatalogueError, match="unknown robot 'panda'; known: franka, ur5e, widowx"):
        catalogue.robot("panda")
    with pytest.raises(
        CatalogueError, match=r"unknown task 'pour'; known: between, bridge_carrot, .*, turn, warehouse_bin, .*"
    ):
        catalogue.task("pour")
    with pytest.raises(CatalogueError, match=r"unknown scene 'garden'; known: bridge_carrot, .*, warehouse, workbench"):
        catalogue.scene("garden")
