"""Accounts in a browser: a code by mail, a passkey, the profile, and own data."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.battle_page import PATIENCE_S, BattlePage
from tests.browser.test_accessibility import broken_in
from tests.stack import Arena

pytestmark = [pytest.mark.browser, pytest.mark.stack]
DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
LOOKS: list[Any] = [("desktop", "light"), ("phone", "dark")]
PLAY = """async () => {
    const call = async (path, body) => (await fetch("/api/" + path, body && {
        method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)})).json();
    const {battle_id} = await call("sessions/init", {robot_id: "widowx", scene_id: "table"});
    let turn = await call("battles/" + battle_id + "/turns", {instruction: "pick up the red cube"});
    while (!["completed", "failed"].includes(turn.status)) turn = await call("turns/" + turn.turn_id);
    const vote = await call("votes", {battle_id, vote: "tie"});
    return [vote.vote_id ? battle_id : "", JSON.stringify([turn, vote])];
}"""

REFUSE = "() => { navigator.credentials.get = () => Promise.reject(new DOMException('no', 'NotAllowedError')); }"


class Window:
    """A browser window with a device that keeps passkeys. `strict`: the site's content security policy holds."""

    def __init__(self, browser: Browser, site: Arena, *, strict: bool = True) -> None:
        # A passkey belongs to a name, which 127.0.0.1 is not.
        url = site.url.replace("127.0.0.1", "localhost").rstrip("/")
        self.context = browser.new_context(base_url=url, bypass_csp=not strict, reduced_motion="reduce")
        self.context.set_default_timeout(60_000)
        self.page: Page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.mails = Path(site.folder) / "mail"
        devices = self.context.new_cdp_session(self.page)
        devices.send("WebAuthn.enable")
        devices.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})

    def open(self, path: str) -> None:
        self.page.goto(path)

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def ask_for_code(self, path: str, address: str) -> None:
        self.open(path)
        self.page.get_by_label("Your e-mail address").fill(address)
        self.press("Send me a code")
        self.page.get_by_role("heading", name="Enter the code").wait_for()

    def enter_code(self, address: str) -> None:
        self.page.get_by_label("Code").fill(self.newest_code(address))
        self.press("Continue")

    def newest_code(self, address: str) -> str:
        mails = sorted(self.mails.glob("*.log"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
        text = next(text for text in (file.read_text() for file in mails) if f"To: {address}" in text)
        found = re.findall(r"^[A-Z]{4}-[A-Z]{4}$", text, re.MULTILINE)
        return str(found[-1])

    def heading(self) -> str:
        return str(self.page.locator("h1").inner_text())

    def wait_for_heading(self, text: str) -> None:
        self.page.get_by_role("heading", name=text, exact=True, level=1).wait_for()

    def play_and_vote(self) -> str:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            battle_id, told = self.page.evaluate(PLAY)
            if battle_id:
                return str(battle_id)
        raise AssertionError(told)


@pytest.fixture
def window(browser: Browser, site: Arena) -> Iterator[Window]:
    opened = Window(browser, site)
    yield opened
    opened.context.close()
    assert opened.errors == []


def test_a_visitor_signs_up_by_mail_adds_a_passkey_and_signs_in_with_it(window: Window) -> None:
    window.open("/")
    battle_id = window.play_and_vote()
    window.ask_for_code("/account/signup/", "ada@example.org")
    window.enter_code("ada@example.org")
    window.wait_for_heading("Your profile")
    expect(window.page.locator(f"a[href='/b/{battle_id}']")).to_have_text("pick up the red cube")
    window.open("/account/passkeys/add/")
    window.press("Create the passkey")
    window.wait_for_heading("Passkeys")
    expect(window.page.locator(".keys li")).to_have_count(1)
    window.open("/profile/")
    window.press("Sign out")
    window.page.get_by_role("link", name="Sign in").click()
    window.press("Sign in with a passkey")
    window.wait_for_heading("Your profile")
    expect(window.page.locator(f"a[href='/b/{battle_id}']")).to_have_count(1)


def test_a_visitor_signs_up_with_a_passkey(window: Window) -> None:
    window.ask_for_code("/account/signup/passkey/", "grace@example.org")
    window.enter_code("grace@example.org")
    window.wait_for_heading("Create a passkey")
    window.press("Create the passkey")
    window.wait_for_heading("Your profile")
    window.press("Sign out")
    window.open("/account/login/")
    window.press("Sign in with a passkey")
    window.wait_for_heading("Your profile")


def test_a_device_without_a_passkey_says_so(window: Window) -> None:
    window.open("/account/login/")
    window.page.evaluate(REFUSE)
    window.press("Sign in with a passkey")
    window.page.get_by_text("The passkey was not used.").wait_for()


def test_own_data_are_downloaded_and_deleted(window: Window) -> None:
    window.open("/")
    battle_id = window.play_and_vote()
    window.open("/your-data/")
    with window.page.expect_download() as downloading:
        window.page.get_by_role("link", name="Download").click()
    copy = json.loads(Path(downloading.value.path()).read_text())
    assert copy["sessions"][0]["battles"][0]["battle_id"] == battle_id
    window.page.get_by_label("I am sure. This cannot be undone.").check()
    window.press("Delete everything")
    window.wait_for_heading("Your data has been deleted")
    window.open("/your-data/")
    window.page.get_by_text("it has started no battle").wait_for()


def test_the_pages_of_accounts_keep_the_rules_of_accessibility(browser: Browser, site: Arena) -> None:
    window = Window(browser, site, strict=False)
    broken: dict[str, list[Any]] = {}

    def look(name: str) -> None:
        broken.update(broken_in(BattlePage(window.page), name, LOOKS))
        narrow(window.page, name)

    for path in ("/account/login/", "/account/signup/", "/account/signup/passkey/", "/profile/", "/privacy/"):
        window.open(path)
        look(path)
    battle_id = window.play_and_vote()
    window.ask_for_code("/account/signup/", "axe@example.org")
    look("code")
    window.page.get_by_label("Code").fill("BBBB-BBBB")
    window.press("Continue")
    window.page.get_by_text("This code is wrong.").wait_for()
    look("wrong code")
    window.enter_code("axe@example.org")
    window.wait_for_heading("Your profile")
    look("profile")
    for path in ("/account/address/", "/account/passkeys/add/", "/account/logout/", "/your-data/"):
        window.open(path)
        look(path)
    window.open("/account/passkeys/add/")
    window.press("Create the passkey")
    window.wait_for_heading("Passkeys")
    look("passkeys")
    for name in ("Rename", "Remove"):
        window.open("/account/passkeys/")
        window.page.get_by_role("link", name=name).click()
        look(name)
    window.open(f"/b/{battle_id}")
    window.page.get_by_label("Your comment").fill("The left arm let go too early.")
    window.press("Send the comment")
    window.page.get_by_text("Only you see it until a moderator approves it").wait_for()
    look("comments")
    window.context.close()
    assert broken == {}


def narrow(page: Page, name: str) -> None:
    """Nothing scrolls sideways on the narrowest phone."""
    page.set_viewport_size({"width": 320, "height": 700})
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 320, f"{name} is {wide} px wide"
