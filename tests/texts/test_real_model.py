"""Battles between the contestants that ship, answered by the real model in its real server."""

from __future__ import annotations

import re
import subprocess
import threading
import urllib.request
from collections.abc import Iterator

import pytest

from arena import kinds
from arena.models import Attempt, AttemptStatus
from arena.store import get_store
from tests.arena.conftest import Visitor
from tests.kinds.conftest import SIDES, House, in_threads
from tests.ports import free_port
from tests.stack import wait_until
from texts import embedded, health
from texts.client import AnswerStream, ServerFailed, close_clients, served_names
from texts.models import LanguageModel

KEY = "only-for-this-test"
ASKED = [{"role": "user", "content": "What is the capital of France?"}]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the model is served, as `manage.py up` serves it."""
    key_file, port = tmp_path_factory.mktemp("key") / "key", free_port()
    key_file.write_text(KEY)
    process = subprocess.Popen(embedded.command(port, key_file), stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: process.poll() is not None or is_up(port), 120)
        assert process.poll() is None, "the server ended"
        yield f"http://arena:{KEY}@127.0.0.1:{port}/v1"
    finally:
        close_clients()
        process.terminate()
        process.wait(10)


def is_up(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.fixture
def house(transactional_db: None, address: str, settings: object) -> House:
    """The text arena with the careful and the hot contestant: left and right."""
    settings.TEXT = {**settings.TEXT, "embedded_url": address}  # type: ignore[attr-defined]
    embedded.seed_models(served=True)
    careful, hot = (LanguageModel.objects.get(pk=f"smollm2-{name}") for name in ("careful", "hot"))
    return House(kinds.get("text"), (careful, hot), in_threads(kinds.get("text").play))


def test_two_contestants_answer_a_follow_up_too_and_are_voted_on(house: House, visitor: Visitor) -> None:
    battle_id = house.open(visitor)
    for prompt in ("Tell a story of a lighthouse.", "How does it end?"):  # long: no two answers are equal by chance
        turn = visitor.send(battle_id, prompt)
        house.play(turn)
        left, right = (visitor.get(f"episodes/{turn[f'{side}_episode_id']}").json()["text"] for side in SIDES)
        assert left != right
        for said in (left, right):
            assert re.search(r"[A-Za-z]{2,}", said), said
    assert visitor.post("votes", {"battle_id": battle_id, "vote": "left_better"}).status_code == 201
    for turn in visitor.battle(battle_id)["turns"]:
        for side in SIDES:
            told = turn[side]["outcome"]
            assert 0 < told["answer_tokens"] <= embedded.MAKER["max_tokens"]
            assert told["prompt_tokens"] > 0, "the server counts, not we"
            assert 0 < told["first_token_ms"] <= told["duration_ms"]
            assert told["cost"] == 0.0


def test_a_stopped_turn_frees_the_server_for_the_next_one(house: House, visitor: Visitor) -> None:
    battle_id = house.open(visitor)
    stopped = visitor.send(battle_id, "Tell a long story about the sea.")
    playing = threading.Thread(target=house.work, args=(stopped,))
    playing.start()
    wait_until(lambda: Attempt.objects.filter(status=AttemptStatus.RUNNING).count() == len(SIDES), 30)
    assert visitor.post(f"turns/{stopped['turn_id']}/cancel").status_code == 200
    playing.join(60)
    assert get_store().get(stopped["left_episode_id"]) is None
    house.play(visitor.send(battle_id, "What is the capital of France?"))
    assert visitor.battle(battle_id)["turns"][-1]["status"] == "completed"


def test_it_lists_its_model_and_its_health_is_seen(house: House) -> None:
    assert served_names(LanguageModel.objects.get(pk="smollm2-plain")) == [embedded.NAME]
    assert health.check_all() == 0


def test_a_wrong_key_and_more_than_it_can_read_are_failures(house: House, address: str, settings: object) -> None:
    model = LanguageModel.objects.get(pk="smollm2-plain")
    too_long = [{"role": "user", "content": "word " * 6000}]
    with pytest.raises(ServerFailed, match="status 400"), AnswerStream(model, too_long):
        pass
    settings.TEXT = {**settings.TEXT, "embedded_url": address.replace(KEY, "another")}  # type: ignore[attr-defined]
    with pytest.raises(ServerFailed, match="status 401"), AnswerStream(model, ASKED):
        pass
