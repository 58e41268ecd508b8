"""Pictures of recorded attempts: after the vote, once, by a worker of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from io import BytesIO
from typing import Any

import pytest
from celery import current_app
from django.http import HttpResponse
from django.utils import timezone
from PIL import Image

from arena.drawings import asking, drawing, store
from arena.gallery import entering
from arena.models import Battle
from arena.queue.dispatch import NOT_SENT
from robots.kind import Robots
from tests.arena.conftest import Visitor, cast, play_battle, side_of
from tests.fakes import FakeRuntime
from tests.stack import BASE_DIR

NAME = "picture.webp"
CONTENT = b"RIFF a picture"
Sent = list[dict[str, Any]]


def code_of(answer: HttpResponse) -> str:
    return str(json.loads(answer.content)["code"])


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """The messages to the drawing worker."""
    messages: Sent = []
    real = current_app.send_task

    def send(name: str, *args: Any, **how: Any) -> Any:
        return messages.append(how) if name in (asking.DRAW, asking.DRAW_BATTLE) else real(name, *args, **how)

    monkeypatch.setattr(type(current_app._get_current_object()), "send_task", lambda app, *a, **k: send(*a, **k))
    return messages


@pytest.fixture
def _drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Robots, "draw", lambda kind, name, document: CONTENT + document["_id"].encode())


@pytest.fixture
def voted(visitor: Visitor, runtime: FakeRuntime, sent: Sent) -> str:
    """The episode of a side of a voted battle."""
    battle_id = play_battle(visitor)
    cast(visitor, battle_id)
    sent.clear()
    return side_of(battle_id, "left").episode_id


@pytest.mark.usefixtures("_drawn")
def test_a_picture_is_drawn_once_however_many_ask_for_it(voted: str, sent: Sent) -> None:
    address = f"episodes/{voted}/picture.webp"
    for _ in range(3):
        answer = Visitor().get(address)
        assert answer.status_code == 202
        assert int(answer["Retry-After"]) > 0
        assert code_of(answer) == "not_drawn_yet"
        assert answer["Cache-Control"] == "no-store"
    assert [each["args"] for each in sent] == [[voted, NAME]]
    drawing.draw(voted, NAME)
    answer = Visitor().get(address)
    assert answer.status_code == 200
    assert answer.content == CONTENT + voted.encode()
    assert answer["Content-Type"] == "image/webp"


@pytest.mark.usefixtures("_drawn")
def test_a_browser_that_has_a_picture_asks_again_soon_and_gets_none_of_a_battle_hidden_since(voted: str) -> None:
    address = f"episodes/{voted}/picture.webp"
    drawing.draw(voted, NAME)
    first = Visitor().get(address)
    assert "immutable" not in first["Cache-Control"]
    assert 0 < int(re.findall(r"max-age=(\d+)", first["Cache-Control"])[0]) <= 600
    again = Visitor().get(address, **{"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content, again["Cache-Control"]) == (304, b"", first["Cache-Control"])
    assert Visitor().get(address, **{"If-None-Match": '"another"'}).content == first.content
    Battle.objects.update(hidden_at=timezone.now())
    assert Visitor().get(address, **{"If-None-Match": first["ETag"]}).status_code == 410


def test_pictures_wait_in_a_queue_that_no_worker_of_turns_takes_from(voted: str, sent: Sent, settings: Any) -> None:
    Visitor().get(f"episodes/{voted}/picture.webp")
    assert sent[0]["queue"] == settings.DRAWINGS_QUEUE
    assert settings.DRAWINGS_QUEUE not in settings.QUEUES


@pytest.mark.usefixtures("_drawn")
def test_before_the_vote_nobody_gets_a_picture_and_none_is_drawn(
    visitor: Visitor, runtime: FakeRuntime, sent: Sent
) -> None:
    episode_id = side_of(play_battle(visitor), "left").episode_id
    unknown = Visitor().get("episodes/ep_unknown/picture.webp")
    unvoted = Visitor().get(f"episodes/{episode_id}/picture.webp")
    assert (unknown.status_code, unknown.content) == (unvoted.status_code, unvoted.content) == (404, unknown.content)
    assert visitor.get(f"episodes/{episode_id}/picture.webp").status_code == 409
    drawing.draw(episode_id, NAME)
    assert sent == []
    assert store.get_drawings().get(episode_id, NAME) is None


def test_a_battle_that_staff_spoiled_has_no_pictures(voted: str) -> None:
    Battle.objects.update(spoiled=True)
    assert Visitor().get(f"episodes/{voted}/picture.webp").status_code == 404


def test_a_picture_that_cannot_be_drawn_is_said_to_be_so_and_not_asked_for_again(
    voted: str, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    Visitor().get(f"episodes/{voted}/picture.webp")
    drawing.draw(voted, NAME)  # a recording of the fake world, which nothing can draw
    answer = Visitor().get(f"episodes/{voted}/picture.webp")
    assert (answer.status_code, code_of(answer)) == (503, "drawing_failed")
    assert len(sent) == 1
    monkeypatch.setattr(store, "FAILED_FOR", -store.FAILED_FOR)
    assert Visitor().get(f"episodes/{voted}/picture.webp").status_code == 202
    assert len(sent) == 2


@pytest.mark.usefixtures("_drawn")
def test_a_picture_of_an_earlier_look_is_drawn_again(voted: str, sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    drawing.draw(voted, NAME)
    monkeypatch.setattr(Robots, "look", "look-of-tomorrow")
    assert Visitor().get(f"episodes/{voted}/picture.webp").status_code == 202
    assert len(sent) == 1


def test_a_lost_message_is_sent_again(voted: str, sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    Visitor().get(f"episodes/{voted}/picture.webp")
    monkeypatch.setattr(store, "LOST_AFTER", -store.LOST_AFTER)
    Visitor().get(f"episodes/{voted}/picture.webp")
    assert len(sent) == 2


def test_while_the_queue_is_down_the_answer_says_so_and_the_next_one_asks_again(
    voted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise NOT_SENT[0]

    with monkeypatch.context() as down:
        down.setattr(type(current_app._get_current_object()), "send_task", refuse)
        answer = Visitor().get(f"episodes/{voted}/picture.webp")
        assert (answer.status_code, code_of(answer)) == (503, "queue_unavailable")
    assert store.get_drawings().get(voted, NAME) is None


def test_old_drawings_make_room_for_new_ones() -> None:
    drawings = store.get_drawings()
    for number in range(4):
        drawings.keep(f"ep_{number}", NAME, "look", bytes(1000))
        time.sleep(0.003)  # the store tells times in milliseconds
    assert drawings.prune(megabytes=0.002, days_of={}) >= 2
    left = [number for number in range(4) if drawings.get(f"ep_{number}", NAME)]
    assert left == [2, 3]


@pytest.mark.usefixtures("_drawn")
def test_a_video_is_drawn_only_once_somebody_asks_for_it(voted: str, sent: Sent) -> None:
    address = f"episodes/{voted}/video.mp4"
    nobody = Visitor().get(address)
    assert (nobody.status_code, code_of(nobody)) == (404, "not_asked_for")
    assert sent == []
    assert Visitor().post(address).status_code == 202
    assert Visitor().get(address).status_code == 202
    assert [each["args"] for each in sent] == [[voted, "video.mp4"]]
    drawing.draw(voted, "video.mp4")
    film = Visitor().get(address)
    assert (film.status_code, film["Content-Type"]) == (200, "video/mp4")
    assert Visitor().post(address).status_code == 200


def test_videos_wait_behind_pictures(voted: str, sent: Sent) -> None:
    Visitor().post(f"episodes/{voted}/video.mp4")
    Visitor().get(f"episodes/{voted}/picture.webp")
    film, picture = sent
    assert picture["priority"] < film["priority"], "0 comes first"


def test_a_visitor_may_ask_for_a_few_videos_an_hour(voted: str, sent: Sent, settings: Any) -> None:
    settings.RATE_LIMITS = {"videos": {"address": ((2, 3600),)}}
    answers = [Visitor().post(f"episodes/{voted}/video.mp4") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert Visitor().get(f"episodes/{voted}/video.mp4").status_code == 202, "looking is not limited"


def test_before_the_vote_no_video_can_be_asked_for(visitor: Visitor, runtime: FakeRuntime, sent: Sent) -> None:
    episode_id = side_of(play_battle(visitor), "left").episode_id
    assert visitor.post(f"episodes/{episode_id}/video.mp4").status_code == 409
    assert Visitor().post(f"episodes/{episode_id}/video.mp4").status_code == 404
    assert sent == []


def test_old_videos_go_before_their_room_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    drawings = store.get_drawings()
    for name in ("video.mp4", "picture.webp"):
        drawings.keep("ep_old", name, "look", b"x")
    drawings.prune(megabytes=1000, days_of={"video.mp4": -1})
    assert drawings.get("ep_old", "video.mp4") is None
    assert drawings.get("ep_old", "picture.webp") is not None


def test_with_the_vote_a_worker_is_asked_for_everything_that_lists_show(
    visitor: Visitor, runtime: FakeRuntime, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = BytesIO()
    Image.new("RGB", (640, 480)).save(picture, "WEBP")
    monkeypatch.setattr(Robots, "draw", lambda kind, name, document: picture.getvalue())
    battle_id = play_battle(visitor)
    assert Visitor().get(f"battles/{battle_id}/preview.jpg").status_code == 404
    assert sent == []
    cast(visitor, battle_id, "left_better")
    assert [each["args"] for each in sent] == [[battle_id]]
    drawing.draw_battle(battle_id)
    for side in ("left", "right"):
        episode_id = side_of(battle_id, side).episode_id
        for name in ("picture.webp", "strip.webp"):
            assert Visitor().get(f"episodes/{episode_id}/{name}").status_code == 200
    preview = Visitor().get(f"battles/{battle_id}/preview.jpg")
    assert (preview.status_code, preview["Content-Type"]) == (200, "image/jpeg")
    assert Image.open(BytesIO(preview.content)).size == (1200, 630)
    assert len(sent) == 1


def test_a_link_in_a_messenger_has_a_picture_before_its_preview_is_drawn(
    visitor: Visitor, runtime: FakeRuntime, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = BytesIO()
    Image.new("RGB", (640, 480)).save(picture, "WEBP")
    monkeypatch.setattr(Robots, "draw", lambda kind, name, document: picture.getvalue())
    battle_id = play_battle(visitor)
    cast(visitor, battle_id, "left_better")
    entering.enter(battle_id)
    sent.clear()
    early = Visitor().get(f"battles/{battle_id}/preview.jpg")
    assert (early.status_code, early["Content-Type"]) == (200, "image/jpeg")
    assert Image.open(BytesIO(early.content)).size == (1200, 630)
    assert "ETag" not in early
    assert int(re.findall(r"max-age=(\d+)", early["Cache-Control"])[0]) <= 60
    assert [each["args"] for each in sent] == [[battle_id, asking.PREVIEW]]
    drawing.draw(battle_id, asking.PREVIEW)
    assert Visitor().get(f"battles/{battle_id}/preview.jpg").content != early.content


def test_the_drawing_worker_takes_only_drawings_and_does_not_pass_for_one_that_plays() -> None:
    """Pings ask whether attempts can be played, and workers that play load policies."""
    show = """
import sys
from vlaarena.drawing import app
app.loader.import_default_modules()
queue = app.conf.task_default_queue
print(app.conf.worker_enable_remote_control, list(app.amqp.queues.consume_from) == [queue], queue.endswith("drawings"))
print("arena.draw" in app.tasks, "arena.queue.worker" in sys.modules)
"""
    said = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True, cwd=BASE_DIR)
    assert said.stdout.split() == ["False", "True", "True", "True", "False"]
