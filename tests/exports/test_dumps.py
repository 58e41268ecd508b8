"""Hourly dumps: files with a signed manifest at fixed addresses; what is no longer public leaves them."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from arena import kinds
from arena.actions.owners import REMOVED
from arena.models import Battle, Turn
from arena.store import EpisodeStore
from community.models import Report
from exports import dumps, signing, tasks
from rankings.models import CountedVote, Snapshot

ROBOTS = "robots"


@pytest.fixture(autouse=True)
def _folder(settings: Any, tmp_path: Path) -> None:
    settings.DUMPS_FOLDER = tmp_path / "dumps"


@pytest.fixture
def dumped(published: list[Battle]) -> str:
    """The name of a dump with one pair: of three battles, one voter preferred a side."""
    tasks.dump()
    (name,) = dumps.names()
    return name


def content(address: str) -> bytes:
    answer = Client().get(address)
    assert answer.status_code == 200, address
    return b"".join(answer.streaming_content)  # type: ignore[attr-defined]


def test_every_file_is_at_its_address_and_as_the_signed_manifest_says(dumped: str) -> None:
    manifest = content("/data/dumps/latest/manifest.json")
    about = json.loads(manifest)
    assert signing.is_signed(manifest, content("/data/dumps/latest/manifest.sig"), Client().get("/data/key").text)
    assert {*about["files"], "manifest.json", "manifest.sig"} == set(dumps.FILES)
    for name, listed in about["files"].items():
        for where in ("latest", dumped):
            found = content(f"/data/dumps/{where}/{name}")
            assert (hashlib.sha256(found).hexdigest(), len(found)) == (listed["sha256"], listed["bytes"])
    assert content("/data/dumps/latest/counts.csv.gz") == bytes(Snapshot.objects.get().counts)
    (row,) = map(json.loads, gzip.decompress(content("/data/dumps/latest/preferences.jsonl.gz")).splitlines())
    assert row["chosen"]["model_id"] == "expert"
    assert about["preference_pairs"] == 1
    assert about["license"] in content("/data/dumps/latest/LICENSE.txt").decode()


def test_who_has_the_newest_file_is_told_so(dumped: str) -> None:
    first = Client().get("/data/dumps/latest/preferences.parquet")
    first.close()
    assert first["Content-Location"] == f"/data/dumps/{dumped}/preferences.parquet"
    again = Client().get("/data/dumps/latest/preferences.parquet", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = Client().get("/data/dumps/latest/preferences.parquet", headers={"If-None-Match": '"other"'})
    other.close()
    assert other.status_code == 200


@pytest.mark.parametrize(
    "address",
    ["latest/.rows", "latest/nothing", "2020-01-01T00Z/manifest.json", "../manifest.json", ".new-x/manifest.json"],
)
def test_nothing_else_of_the_folder_has_an_address(dumped: str, address: str) -> None:
    assert Client().get(f"/data/dumps/{address}").status_code == 404


def test_there_is_one_dump_an_hour_and_the_page_shows_it(dumped: str) -> None:
    assert dumps.write_dump(kinds.get(ROBOTS)) is None
    page = Client().get("/data/").content.decode()
    assert dumped in page
    assert signing.public_key() in page
    assert "CC-BY-4.0" in page


def test_before_the_first_publication_there_is_no_dump(db: None) -> None:
    tasks.dump()
    assert dumps.names() == []
    assert "no dump yet" in Client().get("/data/").content.decode()
    assert Client().get("/data/dumps/latest/manifest.json").status_code == 404


def hide_battle(battle: Battle) -> None:
    Battle.objects.filter(pk=battle.pk).update(hidden_at=timezone.now())


def hide_words(battle: Battle) -> None:
    Turn.objects.filter(battle=battle).update(instruction_hidden_at=timezone.now())


def delete_words(battle: Battle) -> None:
    Turn.objects.filter(battle=battle).update(instruction=REMOVED)


def report(battle: Battle) -> None:
    Report.objects.create(what="battle", battle=battle, subject=battle.battle_id, reason="abuse", reporter="x")


@pytest.mark.parametrize("withhold", [hide_battle, hide_words, delete_words, report])
def test_a_dump_with_what_is_no_longer_public_is_deleted(
    published: list[Battle], dumped: str, withhold: Callable[[Battle], None], settings: Any
) -> None:
    withhold(published[0])
    settings.DUMPS = False
    tasks.dump()
    assert dumps.names() == []


def test_a_vote_that_counts_no_more_leaves_the_next_dump_and_the_old_ones_stay(
    published: list[Battle], dumped: str
) -> None:
    CountedVote.objects.filter(vote__battle=published[0]).update(counted=False, excluded=True)
    older(dumped, "2026-01-01T05Z")
    tasks.dump()
    newest = dumps.manifest_of(dumps.names()[0])
    assert newest is not None
    assert newest["preference_pairs"] == 0


def older(name: str, instead: str) -> None:
    (dumps.settings.DUMPS_FOLDER / name).rename(dumps.settings.DUMPS_FOLDER / instead)


def test_the_next_dump_reads_no_recording_again(dumped: str, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    before = content("/data/dumps/latest/preferences.jsonl.gz")
    settings.DUMP_DAYS = 10_000
    older(dumped, "2026-01-01T05Z")
    monkeypatch.setattr(EpisodeStore, "get", lambda self, episode_id: pytest.fail("a recording was read"))
    assert dumps.write_dump(kinds.get(ROBOTS)) is not None
    assert content("/data/dumps/latest/preferences.jsonl.gz") == before
    assert len(dumps.names()) == 2


def test_the_newest_dumps_are_kept_and_the_last_one_of_each_day(settings: Any) -> None:
    settings.DUMP_HOURS, settings.DUMP_DAYS = 3, 4
    now = datetime(2026, 11, 24, 6, 15, tzinfo=UTC)
    for hours in range(24 * 7):
        (settings.DUMPS_FOLDER / f"{now - timedelta(hours=hours):%Y-%m-%dT%H}Z").mkdir(parents=True)
    dumps.thin_out(now)
    newest = ["2026-11-24T06Z", "2026-11-24T05Z", "2026-11-24T04Z"]
    assert dumps.names() == [*newest, *(f"2026-11-{day}T23Z" for day in (23, 22, 21, 20))]


def test_a_dump_that_cannot_be_written_leaves_nothing(
    published: list[Battle], monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.SIGNING_KEY = "no key"
    with pytest.raises(signing.BadKey, match="ARENA_SIGNING_KEY"):
        dumps.write_dump(kinds.get(ROBOTS))
    assert list(settings.DUMPS_FOLDER.iterdir()) == []


def test_the_command_does_what_the_task_does(published: list[Battle]) -> None:
    out = StringIO()
    call_command("write_dump", "--json", stdout=out)
    assert json.loads(out.getvalue())["dumps"] == dumps.names() != []
