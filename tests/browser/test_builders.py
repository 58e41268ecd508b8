"""The admin's builders: a moderator writes a task or composes a scene, sees, checks, tries and publishes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.battle_page import BattlePage
from tests.browser.seeded import PAIR
from tests.browser.test_accessibility import broken_in
from tests.stack import Arena, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.stack]
LOOKS: Any = [("desktop", "light"), ("phone", "dark")]
STAFF = "builder"
MAKE_STAFF = f"""
from django.contrib.auth.models import User
User.objects.filter(username="{STAFF}").exists() or User.objects.create_superuser("{STAFF}", "", "{STAFF * 2}")
"""
TASK = """\
- id: hoist_it
  name: Hoist it
  description: Lift a thing.
  environment: {robot: widowx, scene: table}
  instruction_templates:
  - {text: 'hoist the {object}'}
  values:
    object: [red_cube, green_sphere]
  goal:
    lifted: {thing: '{object}'}
  hold_steps: 5
  max_steps: 50
  timeout_s: 60
  suggested: true
"""


@pytest.fixture
def staff(open_page: Callable[..., BattlePage], site: Arena) -> Callable[[str], BattlePage]:
    """Log in, and open an address of the admin."""
    site.manage("shell", "--verbosity", "0", "-c", MAKE_STAFF)

    def open_(address: str) -> BattlePage:
        opened = open_page(bypass_csp=True, reduced_motion="reduce").open(f"/admin/login/?next={address}")
        opened.page.get_by_label("Username").fill(STAFF)
        opened.page.get_by_label("Password").fill(STAFF * 2)
        opened.page.get_by_role("button", name="Log in").click()
        opened.page.locator("#yaml-form").wait_for()
        return opened

    return open_


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def see_start(page: Page) -> None:
    press(page, "Draw a start")
    page.locator("[data-live]").get_by_role("img", name="The scene as start 0 lays it out").wait_for()
    assert page.locator("[data-part=screen] canvas").bounding_box()


def check(page: Page) -> None:
    press(page, "Check")
    page.get_by_role("button", name="Publish", exact=True).wait_for()


def withdraw(page: Page) -> None:
    page.get_by_label("Reason").fill("only a test")
    press(page, "Withdraw")
    page.get_by_text("Withdrawn. Old recordings").wait_for()


def test_a_moderator_writes_sees_checks_tries_publishes_and_withdraws_a_task(
    staff: Callable[[str], BattlePage],
) -> None:
    opened = staff("/admin/robots/publishedtask/add/")
    page = opened.page
    broken = broken_in(opened, "a new task", LOOKS)
    page.get_by_label("YAML").fill(TASK.replace("lifted", "floated"))
    press(page, "Save the YAML")
    page.get_by_text("task:10: unknown predicate 'floated'").wait_for()
    broken |= broken_in(opened, "a task with an error", LOOKS)
    page.get_by_label("YAML").fill(TASK)
    press(page, "Save the YAML")
    page.get_by_role("link", name="Look at it, try it, publish it").click()

    see_start(page)
    check(page)
    page.get_by_label("First policy").select_option(PAIR[0])
    page.get_by_label("Second policy").select_option(PAIR[1])
    press(page, "Try it with the expert and both policies")
    for model_id in ("scripted-expert", *PAIR):
        page.get_by_alt_text(f"The end of the rollout of {model_id}").wait_for()
    row = page.locator("tr", has=page.get_by_text("scripted-expert", exact=True))
    expect(row.get_by_role("cell", name="yes")).to_be_visible()
    broken |= broken_in(opened, "a tried task", LOOKS)

    press(page, "Publish")
    page.get_by_role("button", name="Withdraw").wait_for()
    assert broken | broken_in(opened, "a published task", LOOKS) == {}
    wait_until(lambda: "hoist_it" in tasks_of(opened))
    withdraw(page)
    wait_until(lambda: "hoist_it" not in tasks_of(opened))


def tasks_of(opened: BattlePage) -> list[str]:
    return [task["task_id"] for task in opened.fetch("/api/tasks")["results"]]


def test_a_moderator_composes_a_scene_and_a_visitor_plays_in_it(
    staff: Callable[[str], BattlePage], open_page: Callable[..., BattlePage]
) -> None:
    opened = staff("/admin/robots/publishedscene/add/")
    page = opened.page
    page.locator("#id_id").fill("picnic")
    page.locator("#id_name").fill("Picnic")
    page.get_by_label("Thing 1: where it starts").fill("0.2 0.39 -0.15 0")
    broken = broken_in(opened, "a new scene", LOOKS)
    press(page, "Write the YAML from the fields and save")
    page.get_by_role("link", name="Look at it, try it, publish it").click()

    see_start(page)
    check(page)
    press(page, "Try it with the expert")
    page.get_by_alt_text("The end of the last rollout from start 0").wait_for()
    row = page.get_by_role("row", name="pick up the red cube")
    expect(row.get_by_role("cell", name="yes")).to_be_visible()
    broken |= broken_in(opened, "a tried scene", LOOKS)
    press(page, "Publish")
    page.get_by_role("button", name="Withdraw").wait_for()
    assert broken | broken_in(opened, "a published scene", LOOKS) == {}

    wait_until(lambda: "picnic" in scenes_of(opened))
    battle = open_page().open_ready("/battle?scene_id=picnic")
    assert battle.ask("vlaArena.battle.scene_id") == "picnic"
    battle.play_turn("pick up the red cube")
    assert "pick up the red cube" in battle.part("goal-text").inner_text()
    assert battle.complaints == []
    battle.page.close()
    withdraw(page)
    wait_until(lambda: "picnic" not in scenes_of(opened))


def scenes_of(opened: BattlePage) -> list[str]:
    return [scene["scene_id"] for scene in opened.fetch("/api/scenes")["results"]]
