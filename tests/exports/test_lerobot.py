"""LeRobot datasets: what was recorded, read back by the package lerobot-dataset."""

from __future__ import annotations

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pyarrow import parquet

from arena.models import Attempt, Battle
from arena.store import Document, get_store
from exports.lerobot import files
from exports.lerobot.dataset import Episode, SeveralWorlds, write_dataset
from tests.exports.conftest import PLACE, STACK

READER = Path(__file__).with_name("lerobot_reader.py")


def export(folder: Path, *options: str) -> dict[str, Any]:
    out = StringIO()
    call_command("export_lerobot", str(folder), *options, "--json", stdout=out, stderr=StringIO())
    return dict(json.loads(out.getvalue()))


def read(folder: Path, tmp_path: Path) -> dict[str, Any]:
    """As the package sees it, in a process of its own."""
    own = {"HOME": str(tmp_path), "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, str(READER), str(folder)], env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout))


def recordings() -> dict[str, Document]:
    found = {each: get_store().get(each) for each in Attempt.objects.values_list("episode_id", flat=True)}
    return {name: document for name, document in found.items() if document is not None}


def test_the_package_reads_back_every_frame_as_it_was_recorded(published: list[Battle], tmp_path: Path) -> None:
    told = export(tmp_path / "data")
    found, stored = read(tmp_path / "data", tmp_path), recordings()
    assert (found["version"], found["fps"], len(found["episodes"])) == ("v3.0", 5, 6)
    assert told["episodes"] == 6
    assert told["frames"] == len(found["frames"]) == sum(len(each["actions"]) for each in stored.values())
    assert found["tasks"] == {STACK: 0, PLACE: 1}
    for episode in found["episodes"]:
        document = stored[episode["episode_id"]]
        frames = found["frames"][episode["dataset_from_index"] : episode["dataset_to_index"]]
        assert len(frames) == episode["length"] == len(document["actions"])
        for step, frame in enumerate(frames):
            state = document["states"][step]
            assert np.array_equal(frame["action"], np.float32(document["actions"][step]))
            assert np.array_equal(frame["observation.environment_state"], np.float32([*state["qpos"], *state["qvel"]]))
            assert set(frame["observation.state"]) <= set(frame["observation.environment_state"])
            assert (frame["frame_index"], frame["episode_index"]) == (step, episode["episode_index"])
            assert frame["timestamp"] == np.float32(step / 5)
            assert frame["next.done"] == (step == len(frames) - 1)
            assert found["tasks"][document["instruction"]] == frame["task_index"]
    assert [frame["index"] for frame in found["frames"]] == list(range(told["frames"]))
    assert found["item"]["task"] == STACK


def test_each_episode_names_its_battle_model_verdict_and_vote(published: list[Battle], tmp_path: Path) -> None:
    export(tmp_path / "data")
    rows = parquet.read_table(tmp_path / "data" / "meta" / "episodes").to_pylist()
    told = {(row["battle_id"], row["side"]): row for row in rows}
    first, tied, bad = published
    assert told[first.battle_id, "left"]["vote"] == "chosen"
    assert told[first.battle_id, "right"]["vote"] == "rejected"
    assert told[tied.battle_id, "left"]["vote"] == "tie"
    assert told[bad.battle_id, "right"]["vote"] == "both_bad"
    assert told[first.battle_id, "left"]["model_id"] == "expert"
    assert told[first.battle_id, "left"]["success"] is True
    assert told[first.battle_id, "right"]["success"] is False


def test_statistics_are_those_of_all_frames(published: list[Battle], tmp_path: Path) -> None:
    export(tmp_path / "data")
    stats = json.loads((tmp_path / "data" / "meta" / "stats.json").read_text())
    actions = np.concatenate([np.float32(each["actions"]) for each in recordings().values()]).astype(np.float64)
    for name, value in (("min", actions.min(0)), ("max", actions.max(0)), ("mean", actions.mean(0))):
        assert np.allclose(stats["action"][name], value)
    assert np.allclose(stats["action"]["std"], actions.std(0))
    assert stats["action"]["count"] == [len(actions)]


def test_with_videos_each_frame_shows_its_own_state(published: list[Battle], tmp_path: Path) -> None:
    from simulation.pictures import artist_of

    export(tmp_path / "data", "--video", "--battles", published[0].battle_id)
    found = read(tmp_path / "data", tmp_path)
    assert found["video_keys"] == ["observation.images.overview"]
    info = json.loads((tmp_path / "data" / "meta" / "info.json").read_text())
    assert info["features"]["observation.images.overview"]["shape"] == [360, 480, 3]
    with av.open(str(next((tmp_path / "data" / "videos").rglob("*.mp4")))) as film:
        pictures = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
    assert len(pictures) == len(found["frames"])
    shown = np.load(tmp_path / "pictures.npz")["shown"]
    for episode, by_the_package in zip(found["episodes"], shown, strict=True):
        document = recordings()[episode["episode_id"]]
        first = round(episode["videos/observation.images.overview/from_timestamp"] * 5)
        last = episode["length"] - 1
        for moment, read_back in zip((0, last), by_the_package, strict=True):
            drawn = artist_of(document).draw(np.array(document["states"][moment]["qpos"]), (480, 360))
            assert np.abs(read_back.astype(int) - drawn).mean() < 4
            np.testing.assert_array_equal(read_back, pictures[first + moment])
    assert len(found["stats"]["observation.images.overview"]["mean"]) == 3


def test_the_files_have_the_fields_of_the_published_format(published: list[Battle], tmp_path: Path) -> None:
    export(tmp_path / "data")
    info = json.loads((tmp_path / "data" / "meta" / "info.json").read_text())
    assert {
        *("codebase_version", "robot_type", "total_episodes", "total_frames", "total_tasks", "chunks_size", "fps"),
        *("data_files_size_in_mb", "video_files_size_in_mb", "splits", "data_path", "video_path", "features"),
    } <= set(info)
    assert info["splits"] == {"train": "0:6"}
    assert info["vla_arena"]["license"] == "CC-BY-4.0"
    names = info["features"]["observation.environment_state"]["names"]
    assert len(names) == len(set(names)) == info["features"]["observation.environment_state"]["shape"][0]
    row = parquet.read_table(tmp_path / "data" / "meta" / "episodes").to_pylist()[0]
    assert {
        *("episode_index", "tasks", "length", "dataset_from_index", "dataset_to_index", "data/chunk_index"),
        *("data/file_index", "meta/episodes/chunk_index", "meta/episodes/file_index", "stats/action/q50"),
    } <= set(row)


def test_a_full_file_is_followed_by_the_next(
    published: list[Battle], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "DATA_MB", 0)
    monkeypatch.setattr(files, "CHUNKS_SIZE", 2)
    export(tmp_path / "data")
    found = read(tmp_path / "data", tmp_path)
    places = {(row["data/chunk_index"], row["data/file_index"]) for row in found["episodes"]}
    assert places == {(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)}
    assert [frame["index"] for frame in found["frames"]] == list(range(len(found["frames"])))


def test_what_may_not_leave_is_refused_or_left_out(published: list[Battle], tmp_path: Path) -> None:
    Battle.objects.filter(pk=published[0].pk).update(hidden_at=timezone.now())
    with pytest.raises(CommandError, match=published[0].battle_id):
        export(tmp_path / "none", "--battles", published[0].battle_id)
    assert export(tmp_path / "data")["episodes"] == 4


def test_a_folder_in_use_another_world_and_nothing_to_write_are_refused(
    published: list[Battle], tmp_path: Path
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine").write_text("kept")
    with pytest.raises(CommandError, match="exists and is not empty"):
        export(tmp_path / "taken")
    with pytest.raises(CommandError, match="no episode"):
        export(tmp_path / "none", "--scene", "cabinet")
    document = next(iter(recordings().values()))
    episodes = [Episode(document, {}), Episode({**document, "scene_hash": "f" * 64}, {})]
    with pytest.raises(SeveralWorlds, match="folder of its own"):
        write_dataset(tmp_path / "none", episodes, about={})
    assert {path.name for path in tmp_path.iterdir()} == {"taken"}
