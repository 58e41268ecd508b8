"""A server is entered once it has played an episode as its contract says, and is drawn while it answers."""

from __future__ import annotations

import json
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from arena import kinds
from arena.models import ContestantStatus
from policies.models import Policy
from policies.remote import openpi as client
from policies.remote import probe
from policies.seeding import seed_policies
from robots.players import open_player
from simulation import catalogue
from simulation.contracts import Limits
from simulation.environment import Environment
from tests.remote.servers import METADATA, PolicyServer, answers, lingers, serving, status, still

pytestmark = pytest.mark.django_db


def add(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("add_policy", *arguments, "--json", stdout=out)
    told: dict[str, Any] = json.loads(out.getvalue())
    return told


def contract(folder: Path, **content: Any) -> str:
    file = folder / "contract.json"
    file.write_text(json.dumps(content))
    return str(file)


def test_a_server_that_declares_itself_needs_its_address_alone() -> None:
    with serving(PolicyServer()) as server:
        told = add("far", "--url", server.url, "--name", "Far away", "--license", "MIT")
        assert (told["created"], told["status"], told["family"]) == (True, "active", "remote")
        assert told["longest_infer_ms"] >= told["infer_ms"] > 0
        assert {message["prompt"] for message in server.asked} == {"pick up the red cube"}
        assert len(server.asked) == 5  # 20 steps in chunks of 4
        row = Policy.objects.get(id="far")
        assert (row.name, row.license, row.adapter, row.model_path) == ("Far away", "MIT", "remote", server.url)
        assert (row.parameters, len(row.revision)) == (None, 64)
        assert row.worlds.filter(robot_id="widowx", scene_id="table").exists()
        arena = kinds.get("robots")
        assert "far" in arena.eligible(arena.choose({})).values_list("id", flat=True)
        environment = Environment("widowx", "table")
        environment.reset(1)
        with closing(open_player(row, environment)) as player:
            assert player.play(environment, "stay", 0, limits=Limits(max_steps=3)).steps == 3
        seed_policies(Path("/nowhere"), catalogue.embodiments())
        assert Policy.objects.get(id="far").status == ContestantStatus.ACTIVE


def test_its_address_is_told_to_nobody() -> None:
    with serving(PolicyServer()) as server:
        add("far", "--url", server.url)
        for address in ("/api/models", "/api/models/far", "/models/far"):
            answer = Client().get(address)
            assert answer.status_code == 200
            assert str(server.port) not in answer.content.decode()


def test_what_a_server_does_not_declare_stands_in_a_file(tmp_path: Path) -> None:
    with serving(PolicyServer(metadata={"model": "pi0"})) as server:
        with pytest.raises(CommandError, match='lacks "chunk"'):
            add("far", "--url", server.url)
        with pytest.raises(CommandError, match="unknown fields colour; known: action_space"):
            add("far", "--url", server.url, "--contract", contract(tmp_path, colour=1))
        (tmp_path / "list.json").write_text("[1]")
        with pytest.raises(CommandError, match="expected a JSON object"):
            add("far", "--url", server.url, "--contract", str(tmp_path / "list.json"))
        assert not Policy.objects.exists()
        assert add("far", "--url", server.url, "--contract", contract(tmp_path, chunk=4, execute=2))["created"]
        assert Policy.objects.get(id="far").card["execute"] == 2


def test_a_folder_with_a_card_of_this_family_is_entered_as_well(tmp_path: Path) -> None:
    with serving(PolicyServer()) as server:
        add("far", "--url", server.url)
        card = Policy.objects.get(id="far").card
        (tmp_path / "policy.json").write_text(json.dumps(card))
        assert add("near", "--weights", str(tmp_path))["created"]
        assert Policy.objects.get(id="near").model_path == server.url


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (PolicyServer(answers(np.zeros((4, 8)))), r"shape \[4, 8\]; expected \[4, 7\]"),
        (
            PolicyServer(answers(np.full((4, 7), 0.3))),
            "does not answer in eef_delta_bridge7: dx reaches 0.3 m, .* absolute",
        ),
        (PolicyServer(answers(np.full((4, 7), np.inf))), "NaN or infinity"),
        (PolicyServer(lambda connection, message: "KeyError: state"), "error of its own: KeyError: state"),
        (PolicyServer(lingers(0.5)), "did not answer in time"),
        (PolicyServer(metadata=None), "sent no metadata"),
        (PolicyServer(metadata={"arena_contract": {"chunk": 4, "action_space": "joints6"}}), "not 'joints6'"),
        (PolicyServer(metadata={"arena_contract": {"chunk": 4, "rate_hz": 50}}), "controlled at 5 Hz, not 50 Hz"),
        (PolicyServer(metadata={"arena_contract": {"chunk": 99}}), "chunk: expected a whole number, 1..64, got 99"),
        (PolicyServer(metadata={"arena_contract": {"chunk": 4, "name": "x" * 300}}), "at most 255 characters"),
        (
            PolicyServer(
                metadata={"arena_contract": {"chunk": 1, "cameras": [{"name": "wrist", "height": 9, "width": 9}]}}
            ),
            "not 'wrist'",
        ),
    ],
    ids=["width", "absolute", "infinite", "error", "late", "silent", "joints", "rate", "chunk", "name", "camera"],
)
def test_a_server_that_does_otherwise_is_refused_with_the_reason_and_enters_nothing(
    server: PolicyServer, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "METADATA_S", 0.4)
    with serving(server), pytest.raises(CommandError, match=said):
        add("far", "--url", server.url, "--contract", contract(tmp_path, infer_s=0.3))
    assert not Policy.objects.exists()


def test_hosts_ids_and_options_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    Policy.objects.create(id="film", name="Film", family="film", adapter="film")
    for arguments, said in [
        (("far", "--url", "ws://gpu-3:8000"), "ARENA_POLICY_HOSTS, which allows: 127.0.0.1"),
        (("film", "--url", "ws://127.0.0.1:9"), "needs an id of its own"),
        (("no id", "--url", "ws://127.0.0.1:9"), "letters, digits"),
        (("far", "--url", "ws://127.0.0.1:9", "--device", "cuda"), "--device is about folders"),
        (("far", "--weights", str(tmp_path), "--key-variable", "A_API_KEY"), "are about servers"),
        (("far", "--url", "ws://127.0.0.1:9", "--key-variable", "ARENA_SECRET_KEY"), "ends in _API_KEY"),
    ]:
        with pytest.raises(CommandError, match=said):
            add(*arguments)
    assert Policy.objects.count() == 1


def test_a_server_that_is_down_makes_its_policy_unavailable_until_it_answers() -> None:
    with serving(PolicyServer()) as server:
        add("far", "--url", server.url)
        add("other", "--url", server.url)
        Policy.objects.get(id="other").mark_unavailable("A moderator says so")
        assert probe.check_all() == 0
        server.refuse = status(500)
        assert probe.check_all() == 2
        row = Policy.objects.get(id="far")
        assert (row.status, row.status_reason) == (
            ContestantStatus.UNAVAILABLE,
            "server: the server refuses a websocket with status 500",
        )
        server.refuse = lambda connection, request: None
        server.metadata = {"arena_contract": {**METADATA["arena_contract"], "chunk": 8, "revision": "gpu-secret"}}
        assert probe.check_all() == 2
        server.metadata = METADATA
        assert probe.check_all() == 0
        assert Policy.objects.get(id="far").status == ContestantStatus.ACTIVE
        assert Policy.objects.get(id="other").status_reason == "A moderator says so"
        Policy.objects.get(id="far").retire("old")
        server.refuse = status(500)
        assert probe.check_all() == 1


def test_a_server_that_declares_another_revision_is_not_played_under_the_old_one() -> None:
    first = {"arena_contract": {**METADATA["arena_contract"], "revision": "one"}}
    with serving(PolicyServer(answers(still(4)), first)) as server:
        add("far", "--url", server.url)
        server.metadata = {"arena_contract": {**METADATA["arena_contract"], "revision": "gpu-secret"}}
        assert probe.check_all() == 1
        assert Policy.objects.get(id="far").status_reason.endswith("something else than the card: revision")
        add("far", "--url", server.url)
        assert probe.check_all() == 0
        assert Policy.objects.get(id="far").revision == "gpu-secret"
