"""Whatever a server sends, its side fails with a reason that names nobody, and nothing of the other side is lost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from django.core.exceptions import ValidationError

from arena.models import Attempt, AttemptStatus
from arena.store import get_store
from tests.arena.conftest import Visitor
from tests.factories import TextModelFactory
from tests.kinds.conftest import SIDES, House
from tests.texts.conftest import Models
from tests.texts.servers import FAILING, QUICK, SCRIPTS, ScriptedServer, breaks_off, scripted_server
from texts.chunks import count
from texts.client import AnswerStream, ServerFailed
from texts.models import Answer, LanguageModel

Houses = Callable[[str, str], House]
ASKED = [{"role": "user", "content": "Why is the sky blue?"}]


def said(model: LanguageModel) -> tuple[str, AnswerStream]:
    with AnswerStream(model, ASKED) as answer:
        return "".join(answer), answer


@pytest.mark.parametrize("script", FAILING)
def test_the_side_fails_and_the_other_one_keeps_its_answer(
    script: str, house: Houses, visitor: Visitor, server: ScriptedServer
) -> None:
    houses = house(script, "quick")
    battle_id = houses.open(visitor)
    turn = visitor.send(battle_id, "Why is the sky blue?")
    houses.play(turn)
    left, right = (Attempt.objects.get(episode_id=turn[f"{side}_episode_id"]) for side in SIDES)
    assert (left.status, left.termination_reason) == (AttemptStatus.FAILED, "policy_failed")
    assert left.error
    assert get_store().get(left.episode_id) is None
    assert list(Answer.objects.values_list("attempt_id", flat=True)) == [right.episode_id]
    kept = get_store().get(right.episode_id)
    assert right.status == AttemptStatus.COMPLETED
    assert kept is not None
    assert kept["text"].strip() == QUICK
    shown = visitor.get(f"turns/{turn['turn_id']}").content.decode()
    assert [visitor.battle(battle_id)["turns"][0][side]["error"] for side in SIDES] == ["turn_failed"] * 2
    for secret in (script, "gpu-secret", "the-", server.url):
        assert secret not in shown


@pytest.mark.parametrize("script", ["trickles", "silent"])
def test_an_answer_that_takes_too_long_fails_its_side_alone(
    script: str, house: Houses, visitor: Visitor, settings: object
) -> None:
    settings.TEXT = {**settings.TEXT, "answer_s": 4.0}  # type: ignore[attr-defined]
    houses = house(script, "quick")
    battle_id = houses.open(visitor)
    turn = visitor.send(battle_id, "Go on")
    houses.play(turn)
    left, right = (Attempt.objects.get(episode_id=turn[f"{side}_episode_id"]) for side in SIDES)
    assert (left.status, left.termination_reason) == (AttemptStatus.FAILED, "timeout")
    assert (left.length > 0) == (script == "trickles")
    assert right.status == AttemptStatus.COMPLETED
    assert [visitor.battle(battle_id)["turns"][0][side]["error"] for side in SIDES] == ["turn_failed"] * 2


def test_how_far_a_failed_answer_came_is_told_with_the_vote_and_not_before(
    house: Houses, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    houses = house("without-usage", "quick")
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, "Why?"))
    monkeypatch.setitem(SCRIPTS, "without-usage", breaks_off)
    houses.play(visitor.send(battle_id, "And then?"))
    assert [visitor.battle(battle_id)["turns"][1][side]["steps"] for side in SIDES] == [None, None]
    assert visitor.post("votes", {"battle_id": battle_id, "vote": "right_better"}).status_code == 201
    left, right = (visitor.battle(battle_id)["turns"][1][side] for side in SIDES)
    assert (left["status"], left["steps"], left["outcome"]["steps"]) == ("failed", 2, 2)  # "This is only", " half of"
    assert (right["status"], right["steps"]) == ("completed", count(len(QUICK) + 1))


def test_a_good_answer_has_its_words_and_counts(model: Models) -> None:
    text, answer = said(model("quick"))
    assert text.strip() == QUICK
    assert (answer.finish_reason, answer.prompt_tokens, answer.answer_tokens) == ("stop", 7, 11)


def test_without_counts_the_pieces_are_counted_and_null_deltas_are_nothing(model: Models) -> None:
    text, answer = said(model("without-usage"))
    assert (text, answer.answer_tokens, answer.pieces) == ("one two three", None, 3)


def test_control_characters_halves_of_characters_and_turns_of_direction_do_not_pass(model: Models) -> None:
    text, _ = said(model("control-characters"))
    assert text == "ab[31mc\ufffd de\n"


def test_an_answer_without_end_is_cut_at_the_limit_and_its_server_is_stopped(
    house: Houses, visitor: Visitor, server: ScriptedServer
) -> None:
    houses = house("endless", "quick")
    turn = visitor.send(houses.open(visitor), "Go on")
    houses.play(turn)
    left = Attempt.objects.get(episode_id=turn["left_episode_id"])
    document = get_store().get(left.episode_id)
    assert document is not None
    assert (left.status, left.termination_reason) == (AttemptStatus.COMPLETED, "length_limit")
    assert (len(document["text"]), left.length) == (3600, 300)
    assert server.closed_early.wait(10)


def test_a_server_that_lives_and_says_nothing_times_out(model: Models, settings: object) -> None:
    settings.TEXT = {**settings.TEXT, "answer_s": 0.3}  # type: ignore[attr-defined]
    with pytest.raises(ServerFailed, match="longer than") as failed:
        said(model("silent"))
    assert failed.value.reason == "timeout"


def test_when_to_come_again_is_told_to_operators(model: Models) -> None:
    with pytest.raises(ServerFailed, match=r"429.*Retry-After: 7"):
        said(model("limited"))


def test_a_redirect_is_not_followed(model: Models) -> None:
    with pytest.raises(ServerFailed, match="307"):
        said(model("redirects"))


def test_an_address_that_is_not_allowed_is_neither_saved_nor_asked(
    model: Models, settings: object, server: ScriptedServer
) -> None:
    asked = model("quick")
    settings.TEXT = {**settings.TEXT, "hosts": ["gpu-1:8000"]}  # type: ignore[attr-defined]
    with pytest.raises(ServerFailed, match="ARENA_TEXT_HOSTS"):
        said(asked)
    assert not server.requests
    with pytest.raises(ValidationError, match="ARENA_TEXT_HOSTS"):
        asked.full_clean()
    asked.base_url = "http://gpu-1:8000/v1"
    asked.full_clean()
    for wrong in ("http://gpu-1:8001/v1", "file:///etc/passwd", "http://gpu-1:8000@evil/v1", "http://[x", "gpu-1"):
        asked.base_url = wrong
        with pytest.raises(ValidationError):
            asked.full_clean()


def test_the_key_comes_from_the_environment_and_no_other_secret_can_be_named(
    model: Models, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = model("quick")
    asked.key_variable = "LAB_API_KEY"
    asked.full_clean()
    with pytest.raises(ServerFailed, match="LAB_API_KEY is not set"):
        said(asked)
    monkeypatch.setenv("LAB_API_KEY", "sk-123")
    said(asked)
    assert server.keys == ["sk-123"]
    for secret in ("ARENA_SECRET_KEY", "DATABASE_URL", "path"):
        asked.key_variable = secret
        with pytest.raises(ValidationError):
            asked.full_clean()


def test_nobody_listens(transactional_db: None) -> None:
    with pytest.raises(ServerFailed, match="refused"):
        said(TextModelFactory())


def test_tls_without_a_trusted_certificate_is_refused(model: Models, server: ScriptedServer) -> None:
    asked = model("quick")
    asked.base_url = server.url.replace("http:", "https:")
    with pytest.raises(ServerFailed):
        said(asked)
    assert not server.requests


def test_a_certificate_that_nobody_trusts_fails_its_side_alone_and_the_key_is_not_sent(
    house: Houses, visitor: Visitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_KEY", "sk-123")
    houses = house("quick", "slow")
    with scripted_server(self_signed(tmp_path)) as strange:
        address = strange.url.replace("http:", "https:")
        LanguageModel.objects.filter(pk="the-quick").update(base_url=address, key_variable="LAB_API_KEY")
        turn = visitor.send(houses.open(visitor), "Why?")
        houses.play(turn)
        assert (strange.requests, strange.keys) == ([], [])
    left, right = (Attempt.objects.get(episode_id=turn[f"{side}_episode_id"]) for side in SIDES)
    assert (left.status, left.termination_reason) == (AttemptStatus.FAILED, "policy_failed")
    assert "certificate" in left.error.lower()
    assert right.status == AttemptStatus.COMPLETED


def self_signed(folder: Path) -> Path:
    """A certificate for 127.0.0.1 with its key, in one file."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    signed = made.sign(key, hashes.SHA256())
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "server.pem").write_bytes(secret + signed.public_bytes(Encoding.PEM))
    return folder / "server.pem"
