"""The page keeps its secrets before the vote, and its content security policy always."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Response

from tests.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.stack]


def test_nothing_that_the_browser_gets_before_the_vote_names_a_policy(
    open_page: OpenPage, policies: list[dict[str, Any]]
) -> None:
    battle = open_page()
    bodies: list[str] = []

    def keep(response: Response) -> None:
        if response.request.resource_type in {"document", "fetch", "xhr", "script", "stylesheet"} and response.ok:
            bodies.append(response.url + str(response.headers) + response.body().decode("latin-1"))

    battle.page.on("response", keep)
    battle.open_ready().play_turn("stack the red cube on the yellow cube")
    battle.page.wait_for_load_state("networkidle")
    source = "\n".join([battle.page.content(), *bodies, *battle.heard])
    assert len(bodies) > 10
    for policy in policies:
        for secret in (policy["model_id"], policy["name"], policy["provenance"], policy["revision"]):
            assert not secret or secret not in source, f"{secret!r} is there before the vote"


def test_before_the_vote_the_page_asks_for_nothing_exact_and_says_what_comes_with_it(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce")
    asked: list[str] = []
    battle.page.on("request", lambda request: asked.append(request.url))
    battle.open_ready().play_turn("pick up the red cube")
    battle.page.reload()
    battle.wait_for("Boolean(window.vlaArena?.ready && vlaArena.moment?.settled && vlaArena.insight)")
    battle.part("stage").focus()
    battle.page.keyboard.press("y")
    assert battle.part("check").is_hidden()
    assert "You can do this once you have voted" in battle.part("check-results").inner_text()
    assert battle.page.locator("[data-part=curves] figure").count() == 4
    contacts = battle.page.locator("[data-overlay=contacts]")
    assert contacts.is_disabled()
    assert "after the vote" in str(contacts.locator("xpath=..").text_content())
    exact = {"states.bin", "replay.bin"}
    assert any(url.endswith("/view.bin") for url in asked)
    assert not [url for url in asked if url.rpartition("/")[2] in exact]

    battle.vote()
    assert sum(url.endswith("/replay.bin") for url in asked) == 2
    assert contacts.is_enabled()
    assert battle.part("check").is_enabled()
    assert battle.page.locator("[data-part=curves] figure").count() == 11
    assert battle.complaints == []


def test_the_page_is_strict_and_only_the_worker_may_evaluate(open_page: OpenPage) -> None:
    battle = open_page()
    policies: dict[str, str] = {}
    battle.page.on("response", lambda r: policies.update({r.url: r.headers.get("content-security-policy", "")}))
    battle.open_ready().play_turn("pick up the blue cylinder")
    page = next(policy for url, policy in policies.items() if url.endswith("/battle"))
    assert "unsafe" not in page
    evaluating = [url for url, policy in policies.items() if "unsafe-eval" in policy]
    assert len(evaluating) == 1
    assert "/mujoco-worker." in evaluating[0]
    assert battle.complaints == []


def test_the_engine_in_the_browser_is_the_one_that_recorded(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.play_turn("pick up the red cube")
    versions = battle.ask("vlaArena.versions")
    episode_id = battle.ask("vlaArena.battle.turns[0].left.episode_id")
    recorded = battle.fetch(f"/api/episodes/{episode_id}")["engine_version"]
    assert versions["engine"] == recorded.removeprefix("mujoco ")
    assert versions["recorded"] == recorded
    assert battle.part("engine").is_hidden()


def test_the_engine_travels_compressed_and_may_be_kept(open_page: OpenPage) -> None:
    battle = open_page()
    answers: dict[str, dict[str, str]] = {}
    battle.page.on("response", lambda r: answers.update({r.url.rpartition("/")[2]: r.headers}))
    battle.open_ready()
    wasm = next(headers for name, headers in answers.items() if name.endswith(".wasm"))
    assert wasm["content-type"] == "application/wasm"
    assert wasm["content-encoding"] == "br"
    assert "immutable" in wasm["cache-control"]
