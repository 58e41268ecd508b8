"""The dialect of vla-evaluation-harness: what a model server is sent, what it declares, and what it may answer."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from policies.base import BadCard
from policies.models import Policy
from policies.remote import harness as client
from policies.remote import probe
from policies.remote.card import card_from
from policies.remote.errors import BadFrame, ContractBroken, RemoteError, ServerLate, ServerRefused
from policies.remote.metadata import declared
from policies.remote.policy import RemotePolicy, ask_metadata, open_card
from simulation.contracts import Floats, PolicyTooSlow
from tests.remote.harness_servers import DELTAS, STILL, HarnessServer, message
from tests.remote.servers import PolicyServer, serving

SPOKEN = {"dialect": "vla_eval"}
SMALL = {**SPOKEN, "cameras": [{"name": "workspace", "height": 64, "width": 48}]}
INSTRUCTION = "pick up the red cube"
QUICK_S = 1.0  # long enough for a server that answers at once beside other tests


def opened(server: HarnessServer, **more: Any) -> RemotePolicy:
    told = declared(ask_metadata(server.url, SPOKEN))
    return open_card(card_from("far", server.url, told, {**SMALL, "infer_s": QUICK_S, **more}))


def asked(policy: RemotePolicy) -> Floats:
    policy.reset(INSTRUCTION, 5)
    try:
        return policy.infer(policy.spec.grey_observation(INSTRUCTION))
    finally:
        policy.close()


def failure_of(policy: RemotePolicy) -> RemoteError:
    began = time.monotonic()
    with pytest.raises((RemoteError, PolicyTooSlow)) as failed:
        asked(policy)
    assert time.monotonic() - began < 4 * QUICK_S + 1
    error = failed.value.__cause__ if isinstance(failed.value, PolicyTooSlow) else failed.value
    assert isinstance(error, RemoteError)
    assert not [secret for secret in ("gpu-secret", "127.0.0.1", "far") if secret in str(error)]
    return error


def test_hello_an_episode_and_an_observation_are_sent_in_this_order_and_its_action_is_played() -> None:
    action = np.array([0.01, 0.0, -0.02, 0.0, 0.0, 0.1, 1.0], np.float32)
    with serving(HarnessServer(lambda seen: {"actions": action})) as server:
        policy = opened(server)
        server.seen.clear()
        actions = asked(policy)
    assert actions == pytest.approx(np.array([[0.01, 0.0, -0.02, 0.0, 0.0, 0.1, 0.0]]), abs=1e-6)
    assert [(kind, number) for kind, number, _ in server.seen] == [
        ("hello", 1),
        ("episode_start", 2),
        ("observation", 3),
    ]
    hello, start, seen = (payload for _, _, payload in server.seen)
    assert hello["protocol_version"] == 1
    assert start == {"task": {"name": INSTRUCTION, "seed": 5}}
    assert set(seen) == {"images", "states", "task_description"}
    assert seen["task_description"] == INSTRUCTION
    assert (seen["images"]["primary"].shape, seen["images"]["primary"].dtype) == ((64, 48, 3), np.uint8)
    assert seen["states"].shape == (7,)


def test_the_form_of_its_actions_comes_from_what_it_declares() -> None:
    with serving(HarnessServer()) as server:
        form = opened(server).contract.actions
    assert (form.pose, form.rotation, form.opened, form.closed) == ("delta", "axis_angle", -1.0, 1.0)
    with serving(HarnessServer(spec=None)) as server:
        assert opened(server).contract.actions.opened == 1.0


def test_a_chunk_and_the_names_of_two_pictures_are_configuration() -> None:
    cameras = [*SMALL["cameras"], {"name": "wrist", "height": 32, "width": 32}]
    images = {"workspace": {"key": "images/agentview"}}
    with serving(HarnessServer(lambda seen: {"actions": np.tile(STILL, (8, 1))})) as server:
        policy = opened(server, chunk=3, cameras=cameras, images=images, actions={"horizon": 8, **FORM})
        assert asked(policy).shape == (3, 7)
    pictures = server.seen[-1][2]["images"]
    assert {name: picture.shape for name, picture in pictures.items()} == {
        "agentview": (64, 48, 3),
        "wrist": (32, 32, 3),
    }


FORM = {"rotation": "axis_angle", "opened": -1, "closed": 1}


def payload_of(payload: Any) -> Callable[[HarnessServer], None]:
    def change(server: HarnessServer) -> None:
        server.predict = lambda seen: payload

    return change


def reply_of(made: Callable[[str, int, Any], Any]) -> Callable[[HarnessServer], None]:
    def change(server: HarnessServer) -> None:
        server.reply = lambda kind, number, payload: (
            made(kind, number, payload) if kind == "action" else message(kind, number, payload)
        )

    return change


def fails_episodes(server: HarnessServer) -> None:
    server.fails_episodes = True


def is_late(server: HarnessServer) -> None:
    def predict(seen: Mapping[str, Any]) -> Any:
        time.sleep(2 * QUICK_S)
        return {"actions": STILL}

    server.predict = predict


ANSWERS: dict[str, tuple[Callable[[HarnessServer], None], type[RemoteError], str]] = {
    "without-actions": (payload_of({"action": STILL}), BadFrame, "type NoneType"),
    "lists": (payload_of({"actions": STILL.tolist()}), BadFrame, "type list"),
    "no-map": (payload_of(7), BadFrame, "no message of vla-evaluation-harness"),
    "another-width": (payload_of({"actions": np.zeros(8)}), BadFrame, r"expected \[1, 7\]"),
    "not-finite": (payload_of({"actions": np.full(7, np.nan)}), BadFrame, "NaN or infinity"),
    "another-number": (reply_of(lambda kind, n, told: message(kind, n + 1, told)), BadFrame, "another message"),
    "another-type": (reply_of(lambda kind, n, told: message("hello", n, told)), BadFrame, "another type than 'action'"),
    "an-error": (
        reply_of(lambda kind, n, told: message("error", n, {"error": "gpu-secret"})),
        ServerRefused,
        "its own",
    ),
    "a-text": (reply_of(lambda kind, n, told: "gpu-secret"), ServerRefused, "its own"),
    "an-episode-that-fails": (fails_episodes, ServerRefused, "its own"),
    "late": (is_late, ServerLate, "in time"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_cannot_be_played_fails_the_rollout_and_the_next_one_connects_anew(name: str) -> None:
    change, kind, said = ANSWERS[name]
    with serving(HarnessServer()) as server:
        policy = opened(server)
        predict, reply = server.predict, server.reply
        change(server)
        error = failure_of(policy)
        assert isinstance(error, kind)
        assert re.search(said, str(error)), str(error)
        server.predict, server.reply, server.fails_episodes = predict, reply, False
        assert asked(policy).shape == (1, 7)


GREETINGS: dict[str, tuple[dict[str, Any], type[RemoteError], str]] = {
    "another-version": ({"protocol_version": 2}, BadFrame, "version 1"),
    "joints": ({"action_spec": {"joints": {"format": "joint_positions"}}}, ContractBroken, "card: action_space"),
    "another-position": (
        {"action_spec": {**DELTAS, "position": {"format": "absolute_xyz"}}},
        ContractBroken,
        "card: actions",
    ),
    "another-rotation": (
        {"action_spec": {**DELTAS, "rotation": {"format": "quaternion_xyzw"}}},
        ContractBroken,
        "card: action_space",
    ),
    "another-gripper": (
        {"action_spec": {**DELTAS, "gripper": {"format": "binary_close_negative"}}},
        ContractBroken,
        "card: actions",
    ),
    "no-spec": ({"action_spec": [1]}, BadFrame, "expected a map"),
    "another-chunk": ({"arena_contract": {"chunk": 8}}, ContractBroken, "card: chunk"),
}


@pytest.mark.parametrize("name", GREETINGS)
def test_a_server_that_does_not_greet_as_the_card_says_is_refused_before_it_is_asked(name: str) -> None:
    hello, kind, said = GREETINGS[name]
    with serving(HarnessServer()) as server:
        policy = opened(server)
        server.seen.clear()
        server.hello |= hello
        error = failure_of(policy)
        assert isinstance(error, kind)
        assert said in str(error)
        assert [kind for kind, _, _ in server.seen] == ["hello"]


def test_a_server_of_another_dialect_is_told_from_one_that_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "HELLO_S", QUICK_S)
    with serving(PolicyServer()) as server, pytest.raises(BadFrame, match="no message of vla-evaluation-harness"):
        ask_metadata(server.url, SPOKEN)
    silent = PolicyServer(lambda connection, seen: time.sleep(2 * QUICK_S), metadata=None)
    with serving(silent) as server, pytest.raises(ServerLate, match="did not answer to hello"):
        ask_metadata(server.url, SPOKEN)


@pytest.mark.parametrize(
    ("url", "contract", "said"),
    [
        ("http://127.0.0.1:9", {}, "'vla_eval' is spoken at addresses with ws:// or wss://"),
        ("ws://127.0.0.1:9", {"coding": "openpi"}, "expected one of text, got 'openpi'"),
        ("ws://127.0.0.1:9", {"session": True}, "'vla_eval' has no place for a session_id"),
        ("ws://127.0.0.1:9", {"dialect": ["vla_eval"]}, "dialect: expected one of openpi, roboarena, vla_eval"),
    ],
)
def test_a_contract_that_does_not_fit_the_dialect_is_refused(url: str, contract: dict[str, Any], said: str) -> None:
    with pytest.raises(BadCard, match=said):
        open_card(card_from("far", url, {}, {**SMALL, **contract, "chunk": 1}))


@pytest.mark.django_db
def test_the_dialect_alone_registers_a_server_and_a_dead_one_is_unavailable(tmp_path: Path) -> None:
    contract = tmp_path / "contract.json"
    contract.write_text(json.dumps(SPOKEN))
    server = HarnessServer()
    with serving(server):
        call_command("add_policy", "far", "--url", server.url, "--contract", str(contract), stdout=StringIO())
        row = Policy.objects.get(id="far")
        assert (row.card["chunk"], row.card["network"]["dialect"]) == (1, "vla_eval")
        assert sum(kind == "observation" for kind, _, _ in server.seen) == 20
        assert probe.check_all() == 0
    assert probe.check_all() == 1


@pytest.mark.django_db
def test_a_server_of_joints_is_refused_at_registration(tmp_path: Path) -> None:
    contract = tmp_path / "contract.json"
    contract.write_text(json.dumps(SPOKEN))
    spec = {"joints": {"name": "joints", "dims": 7, "format": "joint_positions"}}
    with serving(HarnessServer(spec=spec)) as server, pytest.raises(CommandError, match="joints joint_positions"):
        call_command("add_policy", "far", "--url", server.url, "--contract", str(contract))
    assert not Policy.objects.exists()
