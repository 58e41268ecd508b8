"""A network that has cast many votes today is asked for a proof of work, or for what a class of the operator's asks."""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from arena.models import Vote
from arena.visitors import challenges
from tests.crowd import Member, settle

pytestmark = pytest.mark.usefixtures("behind_a_proxy", "contestants")
HERE = "198.51.100.7"


@pytest.fixture
def asked(settings: Any) -> Any:
    """Proof of work of eight bits, after the first two votes."""
    settings.CHALLENGE, settings.CHALLENGE_AFTER, settings.CHALLENGE_BITS = "proof-of-work", 1, 8
    return settings


class Riddle:
    """A hook of an operator's own."""

    def ask(self, network: str) -> dict[str, Any]:
        return {"kind": "riddle", "question": "What has four wheels and flies?"}

    def accepts(self, network: str, answer: str) -> bool:
        return len(network) == 24 and answer == "a garbage truck"


def tie(_: Any) -> str:
    return "tie"


def solve(challenge: dict[str, Any]) -> str:
    answers = (f"{challenge['token']}.{counter}" for counter in range(10**6))
    return next(answer for answer in answers if challenges.leading_zeros(answer) >= challenge["bits"])


def ready(address: str = HERE) -> tuple[Member, str]:
    """A fresh cookie with a battle to vote on; the network must not be asked yet."""
    member = Member(address)
    battle_id = member.open()
    settle(member.send(battle_id))
    return member, battle_id


def test_by_default_nobody_is_asked(settings: Any) -> None:
    assert (settings.CHALLENGE, settings.CHALLENGE_AFTER) == ("", 30)
    settings.CHALLENGE_AFTER = 0
    for _ in range(2):
        Member(HERE).play_and_vote(tie)


def test_a_busy_networks_votes_and_sessions_need_an_answer_and_each_answer_serves_once(asked: Any) -> None:
    (one, first), (other, second) = ready(), ready("198.51.100.8")
    for _ in range(2):
        Member(HERE).play_and_vote(tie)
    refused = one.vote(first, "tie")
    assert (refused.status_code, refused.json()["code"]) == (428, "challenge_required")
    challenge = refused.json()["challenge"]
    assert (challenge["kind"], challenge["bits"], challenge["expires_in_s"]) == ("proof-of-work", 8, 300)
    assert other.post("sessions/init").status_code == 428, "of the same network"
    answer = {challenges.HEADER: solve(challenge)}
    assert one.vote(first, "tie", **answer).status_code == 201
    assert other.vote(second, "tie", **answer).status_code == 428, "used up"
    anew = {challenges.HEADER: solve(other.vote(second, "tie").json()["challenge"])}
    assert other.post("sessions/init", **anew).status_code == 201


def test_elsewhere_on_exempt_networks_and_the_next_day_nobody_is_asked(asked: Any) -> None:
    asked.FREE_NETWORKS = (ip_network("203.0.113.0/24"),)
    for _ in range(2):
        Member(HERE).play_and_vote(tie)
    for address in ("198.51.101.7", *(f"203.0.113.{host}" for host in range(4)), *["127.0.0.1"] * 4):
        Member(address).play_and_vote(tie)
    assert Member(HERE).post("sessions/init").status_code == 428
    Vote.objects.update(voted_at=timezone.now() - timedelta(days=1))
    assert Member(HERE).post("sessions/init").status_code == 201


def test_an_answer_is_good_for_its_network_alone(asked: Any) -> None:
    for address in (HERE, "203.0.113.7"):
        for _ in range(2):
            Member(address).play_and_vote(tie)
    answer = {challenges.HEADER: solve(Member(HERE).post("sessions/init").json()["challenge"])}
    assert Member("203.0.113.7").post("sessions/init", **answer).status_code == 428
    assert Member(HERE).post("sessions/init", **answer).status_code == 201


def test_answers_that_are_none_expired_or_made_up_are_refused_and_asked_again(
    asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        Member(HERE).play_and_vote(tie)
    challenge = Member(HERE).post("sessions/init").json()["challenge"]
    answer = solve(challenge)
    token = challenge["token"]
    wrong = next(f"{token}.{n}" for n in range(99) if challenges.leading_zeros(f"{token}.{n}") < 8)
    for bad in ("", ".", "x.1", token, wrong, f"{answer}.", f"x{answer}", f"{token}.-1", f"{token}.²", "9" * 5000):
        refused = Member(HERE).post("sessions/init", **{challenges.HEADER: bad.encode().decode("latin-1")})
        assert (refused.status_code, refused.json()["challenge"]["kind"]) == (428, "proof-of-work"), bad
    with monkeypatch.context() as later:
        later.setattr("django.core.signing.time.time", lambda: timezone.now().timestamp() + 301)
        assert Member(HERE).post("sessions/init", **{challenges.HEADER: answer}).status_code == 428
    assert Member(HERE).post("sessions/init", **{challenges.HEADER: answer}).status_code == 201


def test_a_class_of_the_operators_takes_the_place_of_the_proof_of_work(asked: Any) -> None:
    asked.CHALLENGE = f"{__name__}.Riddle"
    for _ in range(2):
        Member(HERE).play_and_vote(tie)
    assert Member(HERE).post("sessions/init").json()["challenge"]["kind"] == "riddle"
    assert Member(HERE).post("sessions/init", **{challenges.HEADER: "a garbage truck"}).status_code == 201


@pytest.mark.parametrize("name", ["captcha", "no.such.Module", "pathlib.Path", "datetime.date", f"{__name__}.tie"])
def test_a_hook_that_is_none_is_refused_by_name_at_the_start(settings: Any, name: str) -> None:
    settings.CHALLENGE = name
    with pytest.raises(ImproperlyConfigured, match=r"ARENA_CHALLENGE=.*proof-of-work"):
        challenges.chosen()
