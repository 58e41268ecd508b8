"""Training is seeded, and a stopped run goes on exactly."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from policies.base import CheckpointError, DatasetError
from policies.film.training import FilmPlan, FilmTrainer
from policies.folder import LOG, read_json, write_json
from policies.training.checkpoint import STATE
from policies.training.dataset import INDEX, Demonstrations
from policies.training.export import copy_log
from policies.training.loop import Pace
from tests.policies.resuming import assert_resuming_changes_nothing
from tests.policies.tiny import STEPS, write_demos

PLAN = FilmPlan(samples=6 * 16, batch=16, warm_up=2, seed=5)
PACE = Pace(log_steps=2)


def test_a_resumed_run_has_the_losses_and_weights_of_one_never_stopped(demos: Demonstrations, tmp_path: Path) -> None:
    assert_resuming_changes_nothing(lambda folder: FilmTrainer(demos, PLAN, folder, PACE), tmp_path)


def test_equal_seeds_give_equal_weights_and_other_seeds_others(demos: Demonstrations, tmp_path: Path) -> None:
    runs = [FilmTrainer(demos, replace(PLAN, seed=seed), tmp_path / str(seed), PACE) for seed in (5, 5, 6)]
    a, b, c = ([run.step()["total"] for _ in range(2)] for run in runs)
    assert a == b
    assert a != c


def test_the_log_has_one_line_per_period_and_none_from_after_the_checkpoint(
    demos: Demonstrations, tmp_path: Path
) -> None:
    trainer = FilmTrainer(demos, PLAN, tmp_path, PACE)
    trainer.run()
    with (tmp_path / LOG).open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["samples"]) for row in rows] == [32, 64, 96]
    with (tmp_path / LOG).open("a", encoding="utf-8") as stream:
        stream.write("8,128,9,9,1,1,1,1,1,1,1,1,1\n")
    again = FilmTrainer(demos, PLAN, tmp_path, PACE)
    again.resume()
    assert len((tmp_path / LOG).read_text("utf-8").splitlines()) == 1 + len(rows)


def test_looking_at_a_run_that_goes_on_leaves_its_log_alone(demos: Demonstrations, tmp_path: Path) -> None:
    trainer = FilmTrainer(demos, PLAN, tmp_path, PACE)
    trainer.run()
    with (tmp_path / LOG).open("a", encoding="utf-8") as stream:
        stream.write("8,128,9,9,1,1,1,1,1,1,1,1,1\n")
    before = (tmp_path / LOG).read_text("utf-8")
    onlooker = FilmTrainer(demos, PLAN, tmp_path, PACE)
    onlooker.load()
    assert (tmp_path / LOG).read_text("utf-8") == before
    assert onlooker.done == trainer.done
    (tmp_path / "out").mkdir()
    copy_log(onlooker, tmp_path / "out")
    assert (tmp_path / "out" / LOG).read_text("utf-8").splitlines() == before.splitlines()[:-1]


def test_resuming_with_another_plan_names_what_differs(demos: Demonstrations, tmp_path: Path) -> None:
    FilmTrainer(demos, PLAN, tmp_path, PACE).save()
    with pytest.raises(CheckpointError, match="channels 32, not 16"):
        FilmTrainer(demos, replace(PLAN, channels=16), tmp_path, PACE).resume()


def test_resuming_on_other_demonstrations_or_nothing_is_refused(demos: Demonstrations, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"checkpoint\.json is missing"):
        FilmTrainer(demos, PLAN, tmp_path / "run", PACE).resume()
    FilmTrainer(demos, PLAN, tmp_path / "run", PACE).save()
    others = Demonstrations(write_demos(tmp_path / "demos", seed=9))
    with pytest.raises(CheckpointError, match="other demonstrations"):
        FilmTrainer(others, PLAN, tmp_path / "run", PACE).resume()


def test_a_run_of_a_release_that_knew_fewer_options_goes_on(demos: Demonstrations, tmp_path: Path) -> None:
    trainer = FilmTrainer(demos, PLAN, tmp_path, PACE)
    trainer.step()
    trainer.save()
    saved = read_json(tmp_path, STATE)
    for name in ("stages", "origin", "repeat"):
        del saved["plan"][name]
    del saved["sums"]["stage"]
    write_json(tmp_path / STATE, saved)
    again = FilmTrainer(demos, PLAN, tmp_path, PACE)
    again.resume()
    assert again.step() == trainer.step()
    with pytest.raises(CheckpointError, match="begun with repeat \\[\\], not "):
        FilmTrainer(demos, replace(PLAN, repeat=(("pick", 2),)), tmp_path, PACE).resume()


def test_a_checkpoint_holds_no_pickle(demos: Demonstrations, tmp_path: Path) -> None:
    FilmTrainer(demos, PLAN, tmp_path, PACE).save()
    assert {path.suffix for path in tmp_path.iterdir()} == {".safetensors", ".json"}


def test_a_share_of_the_demonstrations_keeps_whole_episodes(tmp_path: Path) -> None:
    folder = write_demos(tmp_path, episodes=20)
    tenth = Demonstrations(folder, fraction=0.1)
    assert tenth.episodes == 2
    assert len(tenth) == 2 * STEPS


def test_several_folders_of_one_course_are_trained_on_together(tmp_path: Path) -> None:
    folders = [write_demos(tmp_path / str(seed), episodes=3, seed=seed) for seed in (1, 2)]
    both, one = Demonstrations(*folders), Demonstrations(folders[1])
    assert len(both) == 2 * len(one)
    last = np.arange(len(both))[-len(one) :]
    assert np.array_equal(both.read(last).images, one.read(np.arange(len(one))).images)


def test_a_folder_of_another_course_is_refused_with_what_differs(tmp_path: Path) -> None:
    folders = [write_demos(tmp_path / name) for name in "ab"]
    index = read_json(folders[1], INDEX)
    write_json(folders[1] / INDEX, {**index, "texts": index["texts"][::-1]})
    with pytest.raises(DatasetError, match=r"b: differs from .*a in texts"):
        Demonstrations(*folders)


def test_missing_demonstrations_say_how_to_make_them(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"manage\.py demos"):
        Demonstrations(tmp_path)


def test_words_of_kept_out_texts_are_not_in_the_vocabulary(demos: Demonstrations, tmp_path: Path) -> None:
    trainer = FilmTrainer(demos, PLAN, tmp_path, PACE)
    assert "lift" in trainer.tokenizer.words
    assert "fetch" not in trainer.tokenizer.words
