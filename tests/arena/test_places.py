"""Visitors choose where a battle is held, or leave it to chance: by the API, and by the address of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from arena import kinds
from arena.errors import UnknownName
from arena.models import Session
from policies.models import PolicyWorld
from simulation import catalogue
from tests.arena.conftest import Visitor
from tests.factories import PolicyFactory

OFFERED = ["table", "workbench", "bridge_carrot"]


@pytest.fixture(autouse=True)
def offered() -> Iterator[None]:
    catalogue.offer(OFFERED)
    yield
    catalogue.offer(None)


def opened(visitor: Visitor, **place: Any) -> dict[str, Any]:
    answer = visitor.post("sessions/init", place)
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


def page(visitor: Visitor, address: str) -> str:
    return visitor.client.get(address).content.decode()


def scene_of(text: str) -> str:
    found = re.search(r'data-scene="(\w+)"', text)
    assert found
    return found[1]


def choices(text: str) -> list[tuple[str, str, bool]]:
    """(name, address, current) of each scene to choose from."""
    links = re.findall(
        r'<a class="place" href="([^"]*)"( aria-current="true")?>.*?<span>([^<]*)</span>', text, re.DOTALL
    )
    return [(name, address.replace("&amp;", "&"), bool(current)) for address, current, name in links]


def test_a_session_is_held_in_the_scene_that_was_asked_for_and_so_is_its_next_battle(visitor: Visitor) -> None:
    first = opened(visitor, scene_id="bridge_carrot")
    assert (first["robot_id"], first["scene_id"]) == ("widowx", "bridge_carrot")
    following = visitor.post(f"sessions/{first['session_id']}/battles").json()
    assert following["scene_id"] == "bridge_carrot"
    assert opened(visitor)["scene_id"] == "table"


def test_chance_chooses_among_all_that_is_offered(visitor: Visitor) -> None:
    found = {opened(visitor, robot_id="any", scene_id="any")["scene_id"] for _ in range(60)}
    assert found == set(OFFERED)
    assert opened(visitor, robot_id="any", scene_id="workbench")["scene_id"] == "workbench"
    assert opened(visitor, robot_id="widowx", scene_id="any")["robot_id"] == "widowx"


def test_a_scene_of_another_robot_is_found_without_the_name_of_the_robot() -> None:
    catalogue.offer(["table", "warehouse"])
    assert kinds.get("robots").choose({"scene_id": "warehouse"}) == ("ur5e", "warehouse")
    assert kinds.get("robots").choose({}) == ("widowx", "table")
    with pytest.raises(UnknownName):
        kinds.get("robots").choose({"robot_id": "widowx", "scene_id": "warehouse"})


def test_chance_chooses_no_scene_without_two_contestants(contestants: list[Any]) -> None:
    for row in contestants:
        row.card = {"id": row.id}
        row.save()
    for row in contestants:
        PolicyWorld.objects.create(policy=row, robot_id="widowx", scene_id="workbench")
    PolicyWorld.objects.create(policy=contestants[0], robot_id="widowx", scene_id="table")
    assert {kinds.get("robots").choose({"scene_id": "any"}).scene for _ in range(20)} == {"workbench"}


@pytest.mark.parametrize("scene_id", ["cabinet", "kitchen", "", None, 7])
def test_a_scene_that_is_not_offered_is_refused_with_those_that_are(visitor: Visitor, scene_id: Any) -> None:
    refused = visitor.post("sessions/init", {"scene_id": scene_id})
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_scene")
    assert refused.json()["known"] == sorted([*OFFERED, "any"])
    assert not Session.objects.exists()


def test_a_session_of_a_scene_that_was_withdrawn_goes_no_further_and_its_battle_can_still_be_seen(
    visitor: Visitor,
) -> None:
    session = opened(visitor, scene_id="workbench")
    catalogue.offer(["table"])
    refused = visitor.post(f"sessions/{session['session_id']}/battles")
    assert (refused.status_code, refused.json()["code"]) == (409, "scene_withdrawn")
    assert refused.json()["known"] == ["table"]
    assert visitor.battle(session["battle_id"])["status"] == "ongoing"
    assert scene_of(page(visitor, f"/battle/{session['battle_id']}")) == "workbench"


def test_the_page_is_that_of_the_scene_in_its_address_and_of_its_battle(visitor: Visitor) -> None:
    assert scene_of(page(visitor, "/battle")) == "table"
    assert scene_of(page(visitor, "/battle?scene_id=workbench")) == "workbench"
    battle_id = opened(visitor, scene_id="bridge_carrot")["battle_id"]
    assert scene_of(page(visitor, f"/battle/{battle_id}")) == "bridge_carrot"
    assert scene_of(page(visitor, f"/battle/{battle_id}?scene_id=table")) == "bridge_carrot"
    unknown = visitor.client.get("/battle?scene_id=kitchen")
    assert (unknown.status_code, unknown["Location"]) == (302, "/battle")


def test_the_page_offers_each_scene_with_a_picture_and_chance(visitor: Visitor) -> None:
    text = page(visitor, "/battle?scene_id=workbench")
    names = [catalogue.scene(name).name for name in OFFERED]
    addresses = [f"/battle?scene_id={name}" for name in OFFERED]
    assert choices(text) == [
        *((name, address, name == "Workbench") for name, address in zip(names, addresses, strict=True)),
        ("Any", "/battle?scene_id=any", False),
    ]
    assert [f"images/scenes/widowx-{name}.webp" in text for name in OFFERED] == [True] * 3
    assert "data-anywhere" not in text
    by_chance = page(visitor, "/battle?scene_id=any")
    assert [current for _, _, current in choices(by_chance)] == [False, False, False, True]
    assert "data-anywhere" in by_chance


def test_where_there_is_one_scene_there_is_no_choice(visitor: Visitor) -> None:
    catalogue.offer(["table"])
    assert 'class="places"' not in page(visitor, "/battle")


def test_suggestions_are_those_of_the_scene_and_name_the_things_that_they_need(visitor: Visitor) -> None:
    text = page(visitor, "/battle?scene_id=workbench")
    for said in catalogue.scene("workbench").suggestions:
        assert f'data-suggestion="{said}" data-things="' in text
    assert 'data-suggestion="put the carrot on the left plate" data-things="carrot"' in text
    carrot = page(visitor, "/battle?scene_id=bridge_carrot")
    assert 'data-suggestion="put carrot on plate"' in carrot
    assert "data-things" not in carrot  # every start has all of its things
    assert "red cube" not in carrot


def test_a_strangers_page_of_a_battle_has_no_choice(visitor: Visitor) -> None:
    PolicyFactory(id="gamma")
    battle_id = opened(visitor, scene_id="workbench")["battle_id"]
    assert Visitor().client.get(f"/battle/{battle_id}").status_code == 404


@pytest.mark.parametrize("scene_id", OFFERED)
def test_the_list_of_tasks_can_be_that_of_a_scene(visitor: Visitor, scene_id: str) -> None:
    told = visitor.get(f"tasks?scene_id={scene_id}").json()
    assert {task["scene_id"] for task in told["results"]} == {scene_id}
    assert told["suggestions"] == list(catalogue.scene(scene_id).suggestions)
    everywhere = visitor.get("tasks").json()
    assert {task["scene_id"] for task in everywhere["results"]} == set(OFFERED)
    assert everywhere["suggestions"] == list(catalogue.scene("table").suggestions)
    refused = visitor.get("tasks?scene_id=cabinet")
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_scene")
