"""A battle bundle: whoever has the file and the arena's key replays and ranks it again; what was changed is refused."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from arena.models import Battle, Turn, Vote
from arena.store import get_store
from community.models import Report
from exports import signing
from exports.bundle.parts import Refused
from exports.bundle.verification import Verified, verify_bundle
from exports.bundle.writing import NotForExport, NotPublished, write_bundle
from rankings.models import Snapshot
from tests.exports.conftest import Fight

OTHER_KEY = base64.b64encode(bytes(range(32))).decode()
Parts = dict[str, bytes]
KEPT: list[bytes] = []


@pytest.fixture
def fresh_bundle(published: list[Battle], tmp_path: Path) -> Path:
    call_command("export_bundle", str(tmp_path / "bundle.zip"), stdout=StringIO(), stderr=StringIO())
    return tmp_path / "bundle.zip"


@pytest.fixture
def bundle(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The same file for all tests, without the database that it came from."""
    if not KEPT:
        KEPT.append(request.getfixturevalue("fresh_bundle").read_bytes())
    (tmp_path / "bundle.zip").write_bytes(KEPT[0])
    return tmp_path / "bundle.zip"


def parts_of(path: Path) -> Parts:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(path: Path, parts: Parts) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def signed_again(parts: Parts) -> Parts:
    """As an arena that lies would: the manifest fits the parts, and is signed by its own key."""
    import hashlib

    manifest = json.loads(parts["manifest.json"])
    for name in manifest["parts"]:
        manifest["parts"][name] = {"sha256": hashlib.sha256(parts[name]).hexdigest(), "bytes": len(parts[name])}
    content = json.dumps(manifest).encode()
    return {**parts, "manifest.json": content, "manifest.sig": signing.sign(content)}


def rows(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


def lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def refusal(path: Path, key: str | None = None) -> tuple[str, str]:
    with pytest.raises(Refused) as refused:
        verify_bundle(path, key or signing.public_key())
    return refused.value.code, refused.value.part


def episode(parts: Parts) -> str:
    """The recording that moves."""
    return next(n for n, content in parts.items() if n.startswith("episodes/") and b'"model_id": "expert"' in content)


def test_a_bundle_is_replayed_bit_for_bit_and_ranked_to_the_published_numbers(fresh_bundle: Path) -> None:
    found = verify_bundle(fresh_bundle, signing.public_key())
    snapshot = Snapshot.objects.get()
    assert (found.battles, found.episodes, found.votes, found.models) == (3, 6, 3, 2)
    assert found.boards == len(snapshot.boards)
    assert (found.largest_difference, found.same_code) == (0.0, True)


def test_it_is_verified_in_a_process_without_database_store_or_secret(bundle: Path, tmp_path: Path) -> None:
    key = signing.public_key()
    nowhere = {"DATABASE_URL": "postgres://nobody@127.0.0.1:9/none", "MONGO_URL": "mongodb://127.0.0.1:9"}
    command = [sys.executable, str(django_settings.BASE_DIR / "manage.py"), "verify_bundle", str(bundle), "--json"]
    done = subprocess.run(
        [*command, "--key", key],
        env={"PATH": "/usr/bin:/bin", "ARENA_DATA": str(tmp_path / "empty"), "MUJOCO_GL": "egl", **nowhere},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["verified"], answer["episodes"], answer["key"]) == (True, 6, key)


def test_it_names_no_voter_and_no_session(fresh_bundle: Path) -> None:
    parts = parts_of(fresh_bundle)
    whole = b"".join(parts[name] for name in parts if name != "counts.csv.gz")
    for private in ("anna", "bert", *Vote.objects.values_list("session_id", flat=True)):
        assert private.encode() not in whole
    assert b"session_id" not in whole
    assert not {"voter", "user_id"} & set().union(*(row.keys() for row in rows(parts["battles.jsonl"])))


def flip(parts: Parts, name: str) -> Parts:
    content = bytearray(parts[name])
    content[len(content) // 2] ^= 1
    return {**parts, name: bytes(content)}


@pytest.mark.parametrize("name", ["battles.jsonl", "ranking.json", "counts.csv.gz", "models.jsonl", "episode"])
def test_a_flipped_bit_is_refused_by_the_name_of_its_part(bundle: Path, tmp_path: Path, name: str) -> None:
    parts = parts_of(bundle)
    name = episode(parts) if name == "episode" else name
    assert refusal(pack(tmp_path / "bad.zip", flip(parts, name))) == ("changed_part", name)


def test_a_flipped_bit_of_the_manifest_is_no_longer_what_was_signed(bundle: Path, tmp_path: Path) -> None:
    parts = parts_of(bundle)
    changed = parts["manifest.json"].replace(b'"battles": 3', b'"battles": 4')
    assert refusal(pack(tmp_path / "bad.zip", {**parts, "manifest.json": changed}))[0] == "bad_signature"


def test_another_key_is_refused_though_all_else_fits(bundle: Path, tmp_path: Path, settings: Any) -> None:
    key, settings.SIGNING_KEY = signing.public_key(), OTHER_KEY
    parts = parts_of(bundle)
    manifest = json.loads(parts["manifest.json"]) | {"public_key": signing.public_key()}
    forged = signed_again({**parts, "manifest.json": json.dumps(manifest).encode()})
    path = pack(tmp_path / "forged.zip", forged)
    assert refusal(path, key) == ("another_key", "manifest.json")
    assert verify_bundle(path, None).key == signing.public_key() != key


@pytest.mark.parametrize("name", ["manifest.json", "manifest.sig", "battles.jsonl", "ranking.json", "episode"])
def test_a_missing_part_is_named(bundle: Path, tmp_path: Path, name: str) -> None:
    parts = parts_of(bundle)
    name = episode(parts) if name == "episode" else name
    del parts[name]
    assert refusal(pack(tmp_path / "bad.zip", parts)) == ("missing_part", name)


def test_a_part_that_nobody_signed_is_refused(bundle: Path, tmp_path: Path) -> None:
    parts = {**parts_of(bundle), "episodes/ep_more.json": b"{}"}
    assert refusal(pack(tmp_path / "bad.zip", parts)) == ("unlisted_part", "episodes/ep_more.json")


def test_a_part_that_is_there_twice_is_refused(bundle: Path, tmp_path: Path) -> None:
    path = pack(tmp_path / "bad.zip", parts_of(bundle))
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("battles.jsonl", b"")
    assert refusal(path) == ("part_twice", "battles.jsonl")


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(b"PK no")
    assert refusal(tmp_path / "bad.zip", OTHER_KEY)[0] == "not_a_bundle"


def swap_vote(parts: Parts) -> Parts:
    battles = rows(parts["battles.jsonl"])
    first = next(row for row in battles if row["vote"] == "left_better")
    first["vote"] = "right_better"
    return {**parts, "battles.jsonl": lines(battles)}


def raise_rating(parts: Parts) -> Parts:
    ranking = json.loads(parts["ranking.json"])
    ranking["boards"]["global"]["models"]["still"]["rating"] += 1
    return {**parts, "ranking.json": json.dumps(ranking).encode()}


def change_counts(parts: Parts) -> Parts:
    import gzip

    text = gzip.decompress(parts["counts.csv.gz"]).replace(b"1,0,0,0\n", b"0,1,0,0\n")
    return {**parts, "counts.csv.gz": gzip.compress(text)}


def nudge_state(parts: Parts) -> Parts:
    name = episode(parts)
    document = json.loads(parts[name])
    document["states"][5]["qpos"][3] += 1e-12
    return {**parts, name: json.dumps(document).encode()}


def claim_success(parts: Parts) -> Parts:
    battles = rows(parts["battles.jsonl"])
    battles[0]["turns"][0]["right"]["success"] = True
    return {**parts, "battles.jsonl": lines(battles)}


def swap_sides(parts: Parts) -> Parts:
    battles = rows(parts["battles.jsonl"])
    turn = battles[0]["turns"][0]
    turn["left"], turn["right"] = turn["right"], turn["left"]
    return {**parts, "battles.jsonl": lines(battles)}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (swap_vote, "vote_not_counted"),
        (raise_rating, "ranking_differs"),
        (change_counts, "other_counts"),
        (nudge_state, "episode_differs"),
        (claim_success, "other_battle"),
        (swap_sides, "other_battle"),
    ],
)
def test_even_the_arena_cannot_sign_what_physics_and_votes_do_not_give(
    bundle: Path, tmp_path: Path, change: Callable[[Parts], Parts], code: str
) -> None:
    forged = pack(tmp_path / "forged.zip", signed_again(change(parts_of(bundle))))
    assert refusal(forged)[0] == code


def verified(path: Path) -> Verified:
    write_bundle(path, *kind())
    return verify_bundle(path, signing.public_key())


def kind() -> tuple[Any, ...]:
    from arena import kinds

    return (kinds.get("robots"),)


def hide_battle(battle: Battle) -> None:
    Battle.objects.filter(pk=battle.pk).update(hidden_at=timezone.now())


def hide_instruction(battle: Battle) -> None:
    Turn.objects.filter(battle=battle).update(instruction_hidden_at=timezone.now())


def report(battle: Battle) -> None:
    Report.objects.create(what="battle", battle=battle, subject=battle.battle_id, reason="abuse", reporter="x")


def lose_recording(battle: Battle) -> None:
    get_store().delete([attempt.episode_id for attempt in battle.turns.get().attempts.all()][:1])


@pytest.mark.parametrize("withhold", [hide_battle, hide_instruction, report, lose_recording])
def test_what_is_hidden_or_reported_stays_here_and_its_vote_still_counts(
    published: list[Battle], tmp_path: Path, withhold: Callable[[Battle], None]
) -> None:
    withhold(published[0])
    found = verified(tmp_path / "bundle.zip")
    assert (found.battles, found.votes) == (2, 3)
    assert published[0].battle_id.encode() not in b"".join(parts_of(tmp_path / "bundle.zip").values())


def test_battles_before_the_agreed_day_stay_here(published: list[Battle], tmp_path: Path, settings: Any) -> None:
    settings.DATA_SINCE = published[1].created_at
    assert verified(tmp_path / "bundle.zip").battles == 2


def test_only_voted_and_published_battles_leave(published: list[Battle], fight: Fight, tmp_path: Path) -> None:
    waiting = fight(voter="carl", seed=11)
    assert verified(tmp_path / "bundle.zip").battles == 3
    with pytest.raises(NotForExport, match=waiting.battle_id):
        write_bundle(tmp_path / "none.zip", *kind(), [waiting.battle_id])
    assert not (tmp_path / "none.zip").exists()


def test_some_battles_can_be_chosen(published: list[Battle], tmp_path: Path) -> None:
    chosen = published[1].battle_id
    call_command("export_bundle", str(tmp_path / "one.zip"), "--battles", chosen, stdout=StringIO(), stderr=StringIO())
    found = verify_bundle(tmp_path / "one.zip", signing.public_key())
    assert (found.battles, found.episodes, found.votes) == (1, 2, 3)


def test_without_a_publication_there_is_nothing_to_sign(fight: Fight, tmp_path: Path) -> None:
    with pytest.raises(NotPublished, match="rebuild_rankings"):
        write_bundle(tmp_path / "none.zip", *kind())
    assert list(tmp_path.iterdir()) == []


def test_the_command_names_the_refusal(bundle: Path, tmp_path: Path) -> None:
    bad = pack(tmp_path / "bad.zip", flip(parts_of(bundle), "battles.jsonl"))
    with pytest.raises(CommandError, match=r"changed_part: battles\.jsonl"):
        call_command("verify_bundle", str(bad), "--any-key")
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("verify_bundle", str(bad), "--any-key", "--json", stdout=out)
    assert json.loads(out.getvalue())["refused"]["part"] == "battles.jsonl"
    with pytest.raises(CommandError, match="expected ed25519:"):
        call_command("verify_bundle", str(bad), "--key", "me")
