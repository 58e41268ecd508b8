"""OpenVLA's dialect: what a server is sent and what it may answer, with the json-numpy package at the other end."""

from __future__ import annotations

import ssl
from io import StringIO
from pathlib import Path
from typing import Any

import json_numpy
import numpy as np
import pytest
from django.core.management import CommandError, call_command

from policies.base import BadCard
from policies.models import Policy
from policies.remote import probe
from policies.remote.card import card_from
from policies.remote.errors import BadFrame
from policies.remote.policy import RemotePolicy, ask_metadata, open_card
from simulation.contracts import Floats
from tests.remote.act_servers import STILL, ActServer, as_json
from tests.remote.servers import serving

CAMERAS = [{"name": "workspace", "height": 64, "width": 48}]
INSTRUCTION = "pick up the red cube"


def opened(url: str, **more: Any) -> RemotePolicy:
    return open_card(card_from("far", url, {}, {"cameras": CAMERAS, **more}))


def asked(policy: RemotePolicy) -> Floats:
    policy.reset(INSTRUCTION, 0)
    actions = policy.infer(policy.spec.grey_observation(INSTRUCTION))
    policy.close()
    return actions


def test_a_server_gets_picture_instruction_and_key_and_its_action_is_played() -> None:
    action = np.array([0.01, 0.0, -0.02, 0.0, 0.1, 0.0, 0.0])
    with serving(ActServer(lambda message: action)) as server:
        actions = asked(opened(server.url, statistics_key="bridge_orig"))
    assert actions.tolist() == [action.tolist()]
    message = server.asked[0]
    assert set(message) == {"image", "instruction", "unnorm_key"}
    assert (message["instruction"], message["unnorm_key"]) == (INSTRUCTION, "bridge_orig")
    assert (message["image"].shape, message["image"].dtype) == ((64, 48, 3), np.uint8)


def test_without_statistics_no_key_is_sent() -> None:
    with serving(ActServer()) as server:
        asked(opened(server.url))
    assert set(server.asked[0]) == {"image", "instruction"}


def test_clients_without_json_numpy_on_the_server_have_the_coding_encoded() -> None:
    with serving(ActServer(lambda message: json_numpy.dumps(STILL))) as server:
        assert asked(opened(server.url, coding="encoded")).tolist() == [STILL.tolist()]
        assert server.asked[0]["was encoded"]
        with pytest.raises(Exception, match="error of its own"):
            asked(opened(server.url))


ANSWERS: dict[str, Any] = {
    "json-numpy": lambda message: STILL.astype(np.float32),
    "a-row": lambda message: STILL[None],
    "numbers": as_json(STILL.tolist()),
    "whole-numbers": as_json([0, 0, 0, 0, 0, 0, 1]),
    "rows-of-numbers": as_json([STILL.tolist()]),
    "openvla-oft": lambda message: [STILL],
}


@pytest.mark.parametrize("name", ANSWERS)
def test_every_form_of_an_action_in_use_is_read(name: str) -> None:
    with serving(ActServer(ANSWERS[name])) as server:
        assert asked(opened(server.url)).tolist() == [STILL.tolist()]


def test_a_chunk_wrist_and_state_of_openvla_oft_are_configuration() -> None:
    cameras = [*CAMERAS, {"name": "wrist", "height": 32, "width": 32}]
    images = {"workspace": {"key": "full_image"}, "wrist": {"key": "wrist_image"}}
    contract = {
        "chunk": 3,
        "cameras": cameras,
        "images": images,
        "proprioception": "eef_pose_bridge8",
        "state": {"state": "pose_euler_gripper"},
    }
    with serving(ActServer(lambda message: [STILL] * 3)) as server:
        assert asked(opened(server.url, **contract)).shape == (3, 7)
    message = server.asked[0]
    assert set(message) == {"full_image", "wrist_image", "state", "instruction"}
    assert (message["wrist_image"].shape, message["state"].shape) == ((32, 32, 3), (7,))


def test_a_connection_is_kept_within_an_episode_and_made_again_where_the_server_ends_it() -> None:
    with serving(ActServer()) as server:
        policy = opened(server.url)
        for _ in range(2):
            policy.reset(INSTRUCTION, 0)
            for _ in range(3):
                policy.infer(policy.spec.grey_observation(INSTRUCTION))
        assert server.connections == 2
        server.headers = {"Connection": "close"}
        asked(policy)
        server.headers, server.protocol = {}, "HTTP/1.0"
        policy.reset(INSTRUCTION, 0)
        for _ in range(3):
            assert policy.infer(policy.spec.grey_observation(INSTRUCTION)).shape == (1, 7)
        policy.close()
    assert len(server.asked) == 10


def test_the_key_is_sent_as_a_bearer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAR_API_KEY", "sesame")
    with serving(ActServer()) as server:
        asked(opened(server.url, key_variable="FAR_API_KEY"))
    assert {head["Authorization"] for head in server.heads} == {"Bearer sesame"}


@pytest.mark.parametrize("on_get", [200, 405, 422, 501])
def test_a_server_that_takes_posts_alone_is_there(on_get: int) -> None:
    with serving(ActServer()) as server:
        server.on_get = on_get
        assert ask_metadata(server.url) == {}


@pytest.mark.parametrize(
    ("url", "contract", "said"),
    [
        ("http://127.0.0.1:9/act", {"dialect": "openpi"}, "'openpi' is spoken at addresses with ws:// or wss://"),
        ("ws://127.0.0.1:9", {"dialect": "act", "chunk": 1}, "'act' is spoken at addresses with http:// or https://"),
        ("http://127.0.0.1:9/act", {"dialect": "rest"}, "dialect: expected one of act, got 'rest'"),
        ("http://127.0.0.1:9/act", {"session": True}, "'act' has no place for a session_id; expected false"),
        ("http://127.0.0.1:9/act", {"coding": "text"}, "expected one of json_numpy, encoded, got 'text'"),
        ("http://gpu-3:9/act", {}, "gpu-3:9 is not in ARENA_POLICY_HOSTS"),
        ("http://169.254.169.254/act", {}, "is not in ARENA_POLICY_HOSTS"),
        ("http://me:secret@127.0.0.1/act", {}, "holds no password"),
    ],
)
def test_a_contract_that_does_not_fit_the_dialect_is_refused_with_what_would(
    url: str, contract: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadCard, match=said):
        opened(url, **contract)


@pytest.mark.django_db
def test_the_address_alone_registers_a_server_and_a_dead_one_is_unavailable() -> None:
    with serving(ActServer()) as server:
        out = StringIO()
        call_command("add_policy", "far", "--url", server.url, "--statistics-key", "bridge_orig", stdout=out)
        assert "entered" in out.getvalue()
        row = Policy.objects.get(id="far")
        assert (row.statistics_key, row.card["chunk"]) == ("bridge_orig", 1)
        assert (len(server.asked), server.asked[0]["unnorm_key"]) == (20, "bridge_orig")
        assert probe.check_all() == 0
        server.on_get = 404
        assert probe.check_all() == 1
        assert "(status 404)" in Policy.objects.get(id="far").status_reason
        server.on_get = 405
        assert probe.check_all() == 0


@pytest.mark.django_db
def test_a_server_that_says_error_is_refused_at_registration_with_its_words() -> None:
    refused = pytest.raises(CommandError, match="reports an error of its own: error")
    with serving(ActServer(lambda message: "error")) as server, refused:
        call_command("add_policy", "far", "--url", server.url)
    assert not Policy.objects.exists()


def test_https_is_spoken_with_a_certificate_that_is_trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with serving(ActServer(context=context)) as server:
        url = f"https://localhost:{server.port}/act"
        with pytest.raises(Exception, match="certificate is not valid"):
            asked(opened(url))
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
        assert asked(opened(url)).tolist() == [STILL.tolist()]


def test_numbers_that_are_none_are_refused_with_what_they_are() -> None:
    for told, said in [
        (["a"] * 7, "no numbers"),
        ([True] * 7, "no numbers"),
        ([[0.0] * 7, [0.0] * 6], "differ in length"),
        ([10**400] * 7, "no metres"),
        (None, "type NoneType"),
        ({"actions": [0] * 7}, "type dict"),
    ]:
        with serving(ActServer(as_json(told))) as server, pytest.raises(BadFrame, match=said):
            asked(opened(server.url))
