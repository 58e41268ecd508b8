"""Sharing in a browser: words for strangers, code to embed, a frame on another site, a video."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

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


@contextmanager
def page_elsewhere(html: str) -> Iterator[str]:
    """A page of another origin: a server of its own on another port. Answers its address."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_: object) -> None:
            """Silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            serving.join()


def test_another_site_can_frame_the_embed_and_no_other_page(open_page: OpenPage) -> None:
    voted = vote_on(open_page(reduced_motion="reduce").open_ready(), "put the red cube on the left plate")
    page = open_page(reduced_motion="reduce").open(f"/b/{voted}").page
    page.get_by_text("Embed", exact=True).click()
    code = page.get_by_label("HTML to put on another page:").input_value()
    with page_elsewhere(f'<!doctype html>{code}<iframe name="whole" src="{page.url}"></iframe>') as address:
        page.goto(address)
        embedded = page.frame_locator("iframe:not([name])")
        expect(embedded.get_by_role("link", name="Watch it on VLA Arena")).to_be_visible()
        pictures = embedded.locator("img")
        for number in range(pictures.count()):
            expect(pictures.nth(number)).to_have_js_property("complete", True)
        refused = page.frame("whole")
        assert refused is not None
        page.wait_for_function("document.querySelector('[name=whole]').contentDocument === null")
        assert refused.url.startswith("chrome-error:")
        page.goto("about:blank")  # its connections end before the server does


def test_the_server_films_a_side_after_the_vote(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    menu = battle.page.locator("[data-part=save]")
    assert menu.locator("[data-save=video]:not([hidden])").count() == 0
    vote_on(battle, "pick up the red cube")
    menu.locator("summary").click()
    with battle.page.expect_download(timeout=180_000) as film:
        battle.page.get_by_role("button", name="Video of the left side (MP4)").click()
    assert film.value.suggested_filename.endswith("-left.mp4")
