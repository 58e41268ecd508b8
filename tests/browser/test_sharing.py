"""Sharing in a browser: words for strangers, code to embed, a frame on another site, a video."""

from __future__ import annotations

import pytest

from tests.browser.conftest import OpenPage
from tests.browser.test_around_the_battle import vote_on

pytestmark = [pytest.mark.browser, pytest.mark.stack]


def test_a_stranger_reads_what_was_asked_and_may_embed_it(open_page: OpenPage) -> None:
    voted = vote_on(open_page(reduced_motion="reduce").open_ready(), "put the red cube on the left plate")
    stranger = open_page(reduced_motion="reduce").open(f"/b/{voted}")
    page = stranger.page
    assert page.title().startswith("“put the red cube on the left plate”: ")
    assert "A visitor told both models" in page.locator(".shared-words").inner_text()
    page.get_by_text("Embed", exact=True).click()
    code = page.get_by_label("HTML to put on another page:").input_value()
    assert f"/embed/battles/{voted}/" in code
    framed = page.goto(code.split('"')[1])
    assert framed is not None
    assert "frame-ancestors *" in framed.headers["content-security-policy"]
    page.get_by_role("link", name="Watch it on VLA Arena").wait_for()


def test_the_server_films_a_side_after_the_vote(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    menu = battle.page.locator("[data-part=save]")
    assert menu.locator("[data-save=video]:not([hidden])").count() == 0
    vote_on(battle, "pick up the red cube")
    menu.locator("summary").click()
    with battle.page.expect_download() as film:
        battle.page.get_by_role("button", name="Video of the left side (MP4)").click()
    assert film.value.suggested_filename.endswith("-left.mp4")
