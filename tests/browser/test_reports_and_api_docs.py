"""Reporting a shared battle, the description of the API, and the admin's login, as a browser shows them."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from playwright.sync_api import expect

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility import broken_in
from tests.browser.tour import SIZES
from tests.stack import Arena
from tests.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.stack]
LOOKS: list[tuple[str, Literal["light", "dark"]]] = [("desktop", "light"), ("desktop", "dark"), ("phone", "dark")]
OPERATIONS = ("#operations-battles-send_turn", "#operations-leaderboard-get_leaderboard", "#operations-votes-cast_vote")
NAME = "moderator-of-pages"
MODERATOR = f"""
from django.contrib.auth.models import User
User.objects.filter(username="{NAME}").exists() or User.objects.create_superuser("{NAME}", password="{NAME}{NAME}")
"""
INSTRUCTION = "put the red cube on the left plate"


@pytest.fixture
def voted(site: Arena) -> str:
    """The id of a battle that somebody else has played and voted on."""
    other = Visitor(site.url)
    battle_id = other.open_battle()
    other.wait_for_turn(other.send_turn(battle_id, INSTRUCTION), seconds=240.0)
    assert other.post("/api/votes", {"battle_id": battle_id, "vote": "tie"})[0] == 201
    return battle_id


@pytest.fixture
def moderator(site: Arena) -> str:
    """The name of somebody who may do everything in the admin; the password is the name twice."""
    site.manage("shell", "--verbosity", "0", "-c", MODERATOR)
    return NAME


def open_docs(page: BattlePage) -> BattlePage:
    page.open("/api/docs/")
    page.page.locator(".opblock").first.wait_for()
    return page


def test_a_visitor_reports_an_instruction_without_any_script(open_page: OpenPage, voted: str) -> None:
    page = open_page(java_script_enabled=False).open(f"/b/{voted}").page
    page.get_by_role("link", name="Report this battle").click()
    page.get_by_label(f"The instruction “{INSTRUCTION}”").check()
    page.get_by_label("It reveals something private about a person").check()
    page.get_by_label("Anything that helps the moderators").fill("That is where I live.")
    page.get_by_role("button", name="Send the report").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you: a moderator will look at it.")
    page.get_by_role("link", name="Back to the battle").click()
    page.wait_for_url(f"**/b/{voted}")


def test_the_pages_of_a_report_keep_the_rules(open_page: OpenPage, voted: str) -> None:
    visitor = open_page(bypass_csp=True, reduced_motion="reduce")
    broken: dict[str, list[Any]] = {}
    for state in ("report", "reported"):
        broken |= broken_in(visitor.open(f"/b/{voted}/{state}"), state, LOOKS)
    visitor.open(f"/b/{voted}/report").ask("document.querySelector('form.stacked').noValidate = true")
    visitor.page.get_by_role("button", name="Send the report").click()
    visitor.page.get_by_text("This field is required").wait_for()
    assert broken | broken_in(visitor, "refused", LOOKS) == {}


def test_the_apis_description_keeps_the_rules_closed_and_open(open_page: OpenPage) -> None:
    docs = open_docs(open_page(bypass_csp=True, reduced_motion="reduce", viewport=SIZES["desktop"]))
    broken = broken_in(docs, "closed", LOOKS)
    for operation in OPERATIONS:
        docs.page.locator(f"{operation} .opblock-summary-control").click()
        docs.page.locator(f"{operation} .try-out__btn").click()
        docs.page.locator(f"{operation} .execute").wait_for()
    assert broken | broken_in(docs, "open", LOOKS) == {}


def test_the_apis_description_follows_the_switch_of_light_and_dark_and_leads_back(open_page: OpenPage) -> None:
    docs = open_docs(open_page(color_scheme="light"))
    background = "getComputedStyle(document.querySelector('.opblock')).backgroundColor"
    light = docs.ask(background)
    docs.page.get_by_role("button", name="Dark").click()
    docs.wait_for(f"{background} !== '{light}'")
    expect(docs.page.get_by_role("main")).to_contain_text("Give both sides an instruction")
    assert docs.complaints == []
    docs.page.get_by_role("link", name="Back to the arena").click()
    docs.page.wait_for_url("**/")


def test_the_admins_login_keeps_the_rules(open_page: OpenPage) -> None:
    login = open_page(bypass_csp=True, reduced_motion="reduce").open("/admin/login/")
    assert login.page.get_by_role("heading", level=1).inner_text() == "Log in"
    assert broken_in(login, "login", LOOKS) == {}


def test_the_moderators_queues_and_a_hidden_battle_keep_the_rules(
    open_page: OpenPage, voted: str, moderator: str
) -> None:
    visitor = open_page(bypass_csp=True, reduced_motion="reduce").open(f"/b/{voted}/report")
    visitor.page.get_by_label("The whole battle").check()
    visitor.page.get_by_label("It reveals something private about a person").check()
    visitor.page.get_by_role("button", name="Send the report").click()
    staff = open_page(bypass_csp=True, reduced_motion="reduce").open("/admin/login/?next=/admin/community/report/")
    staff.page.get_by_label("Username").fill(moderator)
    staff.page.get_by_label("Password").fill(moderator * 2)
    staff.page.get_by_role("button", name="Log in").click()
    hide = staff.page.locator("tr", has=staff.page.locator(f"a[href='/b/{voted}']")).get_by_text("Hide the battle")
    hide.wait_for()
    broken = broken_in(staff, "reports", LOOKS)
    hide.click()
    staff.page.get_by_text("The battle is hidden from the public").wait_for()
    broken |= broken_in(staff.open("/admin/community/comment/"), "comments", LOOKS)
    assert visitor.open(f"/b/{voted}").page.get_by_text("A moderator hid this battle.").is_visible()
    assert broken | broken_in(visitor, "hidden", LOOKS) == {}
