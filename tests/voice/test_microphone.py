"""What the browser gets of a call is one stream, whoever answers; what it sends is heard without delay."""

from __future__ import annotations

from tests.voice.telegraph import spoken
from voice.proxy.microphone import GONE_FOR_MS, MOST_WAITING, PIECE_BYTES, PIECE_MS, SILENT_FOR_MS, WAITS_FOR, Browser
from voice.speech.audio import FRAME_BYTES, FRAME_MS, SILENT_FRAME, frames_of

LOUD = spoken("x" * 40)


def test_pieces_have_one_length_and_silence_is_sent_as_well() -> None:
    sent: list[bytes] = []
    browser = Browser(sent.append)
    for frame in [*frames_of(LOUD), *[SILENT_FRAME] * 20]:
        browser.next_frame()
        browser.hear(frame)
    assert {len(piece) for piece in sent} == {PIECE_BYTES}
    assert len(sent) == (len(list(frames_of(LOUD))) + 20) * FRAME_MS // PIECE_MS


def test_the_microphone_is_played_once_some_of_it_has_come_and_again_after_a_gap() -> None:
    browser = Browser(lambda piece: None)
    frames = list(frames_of(LOUD))[:WAITS_FOR]
    browser.take(frames[0])
    assert browser.next_frame() == SILENT_FRAME
    browser.take(b"".join(frames[1:]))
    assert [browser.next_frame() for _ in frames] == frames
    assert browser.next_frame() == SILENT_FRAME
    browser.take(frames[0])
    assert browser.next_frame() == SILENT_FRAME, "one frame after a gap is not enough to go on"


def test_half_a_frame_is_kept_for_the_next() -> None:
    browser = Browser(lambda piece: None)
    audio = LOUD[: WAITS_FOR * FRAME_BYTES]
    browser.take(audio[:100])
    browser.take(audio[100:])
    assert b"".join(browser.next_frame() for _ in range(WAITS_FOR)) == audio


def test_of_what_comes_all_at_once_the_oldest_is_dropped() -> None:
    browser = Browser(lambda piece: None)
    browser.take(LOUD + b"\1\0" * (MOST_WAITING * FRAME_BYTES // 2))
    assert browser.next_frame() == b"\1\0" * (FRAME_BYTES // 2)


def test_typed_words_are_heard_in_place_of_the_microphone() -> None:
    browser = Browser(lambda piece: None)
    browser.take(b"\1\0" * (WAITS_FOR * FRAME_BYTES // 2))
    browser.type(LOUD)
    assert browser.next_frame() == next(frames_of(LOUD))


def run_for(browser: Browser, ms: float, frame: bytes = SILENT_FRAME) -> None:
    for _ in range(int(ms / FRAME_MS) + 1):
        browser.next_frame()
        browser.hear(frame)


def test_a_connection_that_is_lost_for_long_ends_the_call_and_one_that_comes_back_does_not() -> None:
    browser = Browser(lambda piece: None)
    browser.leave()
    run_for(browser, GONE_FOR_MS - 100)
    browser.come_back()
    run_for(browser, GONE_FOR_MS)
    assert browser.hung_up == ""
    browser.leave()
    run_for(browser, GONE_FOR_MS)
    assert browser.hung_up == "caller_gone"


def test_a_call_in_which_nobody_speaks_ends() -> None:
    browser = Browser(lambda piece: None)
    run_for(browser, SILENT_FOR_MS - 200)
    assert browser.hung_up == ""
    run_for(browser, 400)
    assert browser.hung_up == "caller_silent"


def test_an_agent_that_speaks_keeps_the_call_open() -> None:
    browser = Browser(lambda piece: None)
    run_for(browser, SILENT_FOR_MS + 1000, LOUD[:FRAME_BYTES])
    assert browser.hung_up == ""
