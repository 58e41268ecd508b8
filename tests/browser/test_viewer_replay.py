"""Looking into a replay: jumps, cameras, overlays, curves, keepsakes, and keys for all."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.battle_page import BattlePage
from tests.stack import Arena

pytestmark = [pytest.mark.browser, pytest.mark.stack]
INSTRUCTION = "put the red cube on the left plate"


@pytest.fixture(scope="module")
def shown(browser: Browser, site: Arena) -> Iterator[BattlePage]:
    """One turn that all of these look into, after the vote; it stands still until somebody plays it."""
    context = browser.new_context(base_url=site.url.rstrip("/"), reduced_motion="reduce")
    context.set_default_timeout(120_000)
    battle = BattlePage(context.new_page()).open_ready()
    battle.play_turn(INSTRUCTION)
    battle.wait_for("vlaArena.insight !== null")
    battle.vote()
    yield battle
    context.close()


@pytest.fixture(autouse=True)
def _from_the_start(shown: BattlePage) -> None:
    shown.part("stage").focus()
    if shown.ask("vlaArena.clock.playing"):
        shown.page.keyboard.press("Space")
    shown.page.keyboard.press("Home")
    if shown.part("insight").is_visible():
        shown.page.keyboard.press("p")


def picture(battle: BattlePage, side: str = "left") -> bytes:
    battle.page.wait_for_timeout(400)
    return battle.page.locator(f"[data-viewer={side}] canvas").screenshot()


def test_with_the_vote_forces_the_secret_and_the_exact_recordings_are_here(shown: BattlePage) -> None:
    assert shown.ask("vlaArena.physics.exact") == {"left": True, "right": True}
    assert shown.page.locator("[data-overlay=contacts]").is_enabled()
    shown.page.keyboard.press("p")
    assert shown.ask("vlaArena.battle.secret") in shown.part("numbers").inner_text()
    assert shown.part("check").is_enabled()
    shown.page.keyboard.press("p")


def test_the_visitor_checks_both_records(shown: BattlePage) -> None:
    shown.page.keyboard.press("y")
    shown.wait_for("vlaArena.checks !== null")
    for side in ("left", "right"):
        check = shown.ask(f"vlaArena.checks.{side}")
        assert check["verdict"] in {"same", "follows"}
    said = shown.part("check-results").inner_text()
    assert "Left:" in said
    assert "not what physics computes" not in said
    shown.part("stage").focus()
    shown.page.keyboard.press("p")


def test_the_bar_scrubs_and_the_speeds_go_from_a_quarter_to_four(shown: BattlePage) -> None:
    scrub = shown.part("scrub")
    scrub.scroll_into_view_if_needed()
    box = scrub.bounding_box()
    assert box is not None
    shown.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert shown.ask("vlaArena.clock.time / vlaArena.clock.duration") == pytest.approx(0.5, abs=0.02)
    assert "seconds, step" in str(scrub.get_attribute("aria-valuetext"))
    values = shown.part("speed").locator("option").evaluate_all("(options) => options.map(({value}) => Number(value))")
    assert values == [0.25, 0.5, 1, 2, 4]
    shown.part("speed").select_option("4")
    assert shown.ask("vlaArena.clock.speed") == 4
    shown.part("speed").select_option("1")


def test_jumps_go_where_something_happens_and_are_closed_where_nothing_does(shown: BattlePage) -> None:
    insight = shown.ask(
        "((all) => ({touch: Object.values(all.traces).flatMap((side) => side.touch?.time ?? []),"
        " grasp: Object.values(all.traces).flatMap((side) => side.grasp?.time ?? []),"
        " divergence: all.divergence === null ? [] : [all.divergence]}))(vlaArena.insight)"
    )
    for key, name in (("t", "touch"), ("g", "grasp"), ("d", "divergence")):
        button = shown.page.locator(f"[data-jump={name}]")
        assert button.is_enabled() == bool(insight[name])
        shown.page.keyboard.press("End")
        shown.page.keyboard.press(key)
        wanted = min(insight[name]) if insight[name] else shown.ask("vlaArena.clock.duration")
        assert shown.ask("vlaArena.clock.time") == pytest.approx(wanted)
    assert shown.page.locator(".mark").count() == sum(len(times) for times in insight.values())


def test_cameras_turn_together_or_alone_and_ride_on_the_gripper(shown: BattlePage) -> None:
    names = shown.page.locator("[data-part=camera] option").all_inner_texts()
    assert {"Overview", "What the robot sees", "Front", "Side", "Top", "Gripper"} <= set(names)
    shown.part("camera").select_option("policy")
    assert shown.side("left", "square").is_visible()
    shown.part("camera").select_option("gripper")
    riding = shown.ask("vlaArena.cameras")
    shown.part("stage").focus()
    shown.page.keyboard.press("End")
    shown.wait_for(f"vlaArena.cameras[0][2] !== {riding[0][2]}")

    shown.page.keyboard.press("k")
    shown.page.locator("[data-side-camera=left]").select_option("top")
    left, right = shown.ask("vlaArena.cameras")
    assert left[2] > 0.9
    assert right[2] < 0.9
    shown.part("stage").focus()
    shown.page.keyboard.press("k")
    left, right = shown.ask("vlaArena.cameras")
    assert left == pytest.approx(right, abs=1e-9)
    shown.part("camera").select_option("overview")


@pytest.mark.parametrize("overlay", ["contacts", "joints", "paths", "object", "ghost"])
def test_an_overlay_changes_the_picture_and_is_gone_again(shown: BattlePage, overlay: str) -> None:
    shown.page.keyboard.press("d" if overlay == "ghost" else "End")
    shown.wait_for_pictures()
    before = shown.picture("left")
    shown.part("overlays").locator("summary").click()
    shown.page.locator(f"[data-overlay={overlay}]").check()
    shown.page.keyboard.press("Escape")
    shown.wait_for_picture("left", lambda picture: picture != before)
    shown.part("overlays").locator("summary").click()
    shown.page.locator(f"[data-overlay={overlay}]").uncheck()
    shown.page.keyboard.press("Escape")
    shown.wait_for_picture("left", lambda picture: picture == before)


def test_curves_have_both_sides_and_a_cursor_that_is_the_clock(shown: BattlePage) -> None:
    shown.page.keyboard.press("p")
    figures = shown.page.locator("[data-part=curves] figure")
    assert figures.count() == 3 + 1 + 7
    assert figures.first.locator(".curve-left").count() == figures.first.locator(".curve-right").count() == 1
    before = figures.first.locator(".cursor").get_attribute("transform")
    shown.page.keyboard.press("ArrowRight")
    assert figures.first.locator(".cursor").get_attribute("transform") != before
    box = figures.first.locator("svg").bounding_box()
    assert box is not None
    shown.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert shown.ask("vlaArena.clock.time / vlaArena.clock.duration") == pytest.approx(0.5, abs=0.02)
    shown.part("stage").focus()
    shown.page.keyboard.press("p")
    assert shown.part("insight").is_hidden()


def test_one_at_a_time_full_screen_speed_and_the_help_sheet_have_keys(shown: BattlePage) -> None:
    keyboard = shown.page.keyboard
    keyboard.press("v")
    assert shown.page.locator("[data-viewer=right]").is_hidden()
    keyboard.press("v")
    assert shown.page.locator("[data-viewer=left]").is_hidden()
    keyboard.press("v")
    assert shown.page.locator("[data-viewer=left]").is_visible()
    keyboard.press(",")
    assert shown.ask("vlaArena.clock.speed") == 0.5
    keyboard.press(".")
    keyboard.press("l")
    assert shown.ask("vlaArena.clock.loop")
    keyboard.press("l")
    keyboard.press("f")
    shown.wait_for("document.fullscreenElement?.dataset.part === 'stage'")
    keyboard.press("f")
    shown.wait_for("document.fullscreenElement === null")
    keyboard.press("?")
    sheet = shown.part("shortcuts")
    assert sheet.is_visible()
    assert sheet.locator("dt").count() > 20
    keyboard.press("l")
    assert not shown.ask("vlaArena.clock.loop"), "keys of the page are silent under the sheet"
    keyboard.press("Escape")
    assert sheet.is_hidden()


def test_the_moment_shown_is_told_to_the_page(shown: BattlePage) -> None:
    shown.ask(
        "document.querySelector('[data-part=stage]')"
        ".addEventListener('viewer:moment', ({detail}) => { window.told = detail; })"
    )
    shown.page.keyboard.press("ArrowRight")
    shown.page.keyboard.press("ArrowRight")
    told = shown.ask("window.told")
    assert told == shown.ask("vlaArena.moment")
    assert told["record"] == 2
    assert told["settled"] is True
    assert told["episodes"]["left"] == shown.ask("vlaArena.battle.turns[0].left.episode_id")


def test_a_picture_of_both_sides_can_be_kept(shown: BattlePage, tmp_path: Path) -> None:
    with shown.page.expect_download() as download:
        shown.page.keyboard.press("i")
    assert download.value.suggested_filename == "vla-arena-put-the-red-cube-on-the-left-plate.png"
    download.value.save_as(tmp_path / "picture.png")
    content = (tmp_path / "picture.png").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(content[16:20]) == 1280
    assert len(content) > 20_000, "an empty canvas is much smaller"


def test_a_short_clip_can_be_kept(shown: BattlePage, tmp_path: Path) -> None:
    shown.part("speed").select_option("4")
    shown.part("stage").focus()
    with shown.page.expect_download(timeout=90_000) as download:
        shown.page.keyboard.press("w")
    download.value.save_as(tmp_path / "clip.webm")
    content = (tmp_path / "clip.webm").read_bytes()
    width, height, colours = seen_in(content, shown)
    assert (width, height) == (1280, 560)
    assert colours > 50, "an empty film has few colours"
    assert not shown.ask("vlaArena.clock.playing"), "it stands still again, as before"
    shown.part("speed").select_option("1")


def seen_in(film: bytes, battle: BattlePage) -> tuple[int, int, int]:
    """Width and height of a film, and how many colours a picture in it has, by a page without a policy."""
    page = battle.page.context.new_page()
    address = f"data:video/webm;base64,{base64.b64encode(film).decode()}"
    seen: list[int] = page.evaluate(
        """async (address) => {
             const film = Object.assign(document.createElement('video'), { src: address, muted: true });
             await new Promise((resolve, reject) => Object.assign(film, { onloadeddata: resolve, onerror: reject }));
             film.currentTime = 0.5;
             await new Promise((resolve) => { film.onseeked = resolve; });
             const canvas = new OffscreenCanvas(film.videoWidth, film.videoHeight);
             const pen = canvas.getContext('2d');
             pen.drawImage(film, 0, 0);
             const pixels = new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
             return [canvas.width, canvas.height, new Set(pixels).size]; }""",
        address,
    )
    page.close()
    return seen[0], seen[1], seen[2]


def test_nothing_was_complained_about(shown: BattlePage) -> None:
    assert shown.complaints == []
