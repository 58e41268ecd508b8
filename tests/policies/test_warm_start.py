"""A run can begin with the weights of a policy folder."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import torch
from django.core.management import CommandError, call_command
from safetensors.torch import load_file

from policies.base import CheckpointError, HashMismatch
from policies.film.tokenizer import UNKNOWN
from policies.film.training import FilmPlan, FilmTrainer
from policies.film.warm_start import WarmStart
from policies.folder import CARD, SUMS, TOKENIZER, WEIGHTS, read_card, read_json, write_json, write_sums
from policies.registry import open_policy
from policies.training.dataset import Demonstrations
from policies.training.export import Naming
from policies.training.loop import Pace
from simulation.contracts import Observation
from tests.policies.resuming import assert_resuming_changes_nothing
from tests.policies.tiny import SIZE, write_demos

PLAN = FilmPlan(samples=6 * 16, batch=16, warm_up=2, seed=5)


@pytest.fixture
def others(tmp_path: Path) -> Demonstrations:
    return Demonstrations(write_demos(tmp_path / "others", seed=9))


def begun(demos: Demonstrations, folder: Path, run: Path, plan: FilmPlan = PLAN) -> FilmTrainer:
    return FilmTrainer(demos, plan, run, Pace(), WarmStart.read(folder))


def actions(folder: Path) -> np.ndarray:
    image = np.random.default_rng(3).integers(0, 255, (SIZE, SIZE, 3), dtype=np.uint8)
    policy = open_policy(folder)
    policy.reset("lift the red cube", 0)
    return policy.infer(Observation({"workspace": image}, np.ones(8, np.float32), "lift the red cube", 0))


def test_it_begins_as_that_policy_with_its_words_and_statistics(
    others: Demonstrations, folder: Path, tmp_path: Path
) -> None:
    begun(others, folder, tmp_path / "run").export(Naming("again", "Again", ""), tmp_path / "again")
    assert np.array_equal(actions(tmp_path / "again"), actions(folder))
    for name in (WEIGHTS, TOKENIZER, "dataset_statistics.json"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_a_resumed_run_has_the_losses_and_weights_of_one_never_stopped(
    others: Demonstrations, folder: Path, tmp_path: Path
) -> None:
    assert_resuming_changes_nothing(lambda run: begun(others, folder, run), tmp_path)


def test_it_trains_other_weights_than_a_run_from_the_beginning(
    others: Demonstrations, folder: Path, tmp_path: Path
) -> None:
    warm, cold = begun(others, folder, tmp_path / "warm"), FilmTrainer(others, PLAN, tmp_path / "cold")
    assert warm.step() != cold.step()


def test_the_card_names_the_policy_that_it_began_with(others: Demonstrations, folder: Path, tmp_path: Path) -> None:
    first = read_card(folder)
    card = begun(others, folder, tmp_path / "run").export(Naming("again", "Again", ""), tmp_path / "again")
    assert card.training["plan"]["origin"] == f"film-toy, revision {first.revision}"
    (before,) = card.training["before"]
    assert (before["policy"], before["revision"], before["samples"]) == ("film-toy", first.revision, 48)
    further = begun(others, tmp_path / "again", tmp_path / "further").history
    assert [each["policy"] for each in further] == ["film-toy", "again"]


def test_the_exported_weights_can_lie_between_those_of_the_beginning_and_those_that_were_learnt(
    others: Demonstrations, folder: Path, tmp_path: Path
) -> None:
    first, found = load_file(folder / WEIGHTS), {}
    for mixed in (0.0, 0.25):
        run = FilmTrainer(others, PLAN, tmp_path / f"run{mixed}", Pace(), WarmStart.read(folder), mixed)
        run.step()
        card = run.export(Naming("mixed", "Mixed", ""), tmp_path / f"mixed{mixed}")
        found[mixed] = load_file(tmp_path / f"mixed{mixed}" / WEIGHTS)
        assert card.training.get("mixed", 0.0) == mixed
    assert any((found[0.0][name] != first[name]).any() for name in first)
    for name, learnt in found[0.0].items():
        torch.testing.assert_close(found[0.25][name], 0.75 * learnt + 0.25 * first[name])


def test_mixed_needs_a_beginning(others: Demonstrations, tmp_path: Path) -> None:
    options = ["--data", tmp_path / "others", "--run", tmp_path / "run", "--out", tmp_path / "out", "--samples", "16"]
    with pytest.raises(CommandError, match=r"mixed 0\.5: there is nothing to mix with; pass --start-from"):
        call_command("train", "film", "--mixed", "0.5", *map(str, options))
    with pytest.raises(CommandError, match="expected at least 0 and less than 1, got 1"):
        call_command("train", "film", "--mixed", "1", *map(str, options))


def test_a_run_goes_on_with_no_other_beginning(others: Demonstrations, folder: Path, tmp_path: Path) -> None:
    begun(others, folder, tmp_path / "run").save()
    with pytest.raises(CheckpointError, match=r"begun with origin film-toy, revision \w+, not $"):
        FilmTrainer(others, PLAN, tmp_path / "run").resume()


def test_another_architecture_is_refused_with_its_sizes(others: Demonstrations, folder: Path, tmp_path: Path) -> None:
    plan = replace(PLAN, channels=16, pictures=2)
    with pytest.raises(
        CheckpointError, match="has channels 32, not 16; pictures 1, not 2; train with --channels 32 --pictures 1"
    ):
        begun(others, folder, tmp_path / "run", plan)


def test_another_family_is_refused(folder: Path) -> None:
    write_json(folder / CARD, {**read_json(folder, CARD), "family": "octo"})
    write_sums(folder)
    with pytest.raises(CheckpointError, match="expected a policy of the family film, got octo"):
        WarmStart.read(folder)


def test_a_word_that_it_does_not_know_is_added_and_begins_as_the_unknown_one(
    others: Demonstrations, folder: Path, tmp_path: Path
) -> None:
    known = WarmStart.read(folder).tokenizer
    others.texts[0] = "lift the crimson cube"
    trainer = begun(others, folder, tmp_path / "run")
    trainer.export(Naming("again", "Again", ""), tmp_path / "again")
    assert read_json(tmp_path / "again", TOKENIZER)["words"] == [*known.words, "crimson"]
    rows = trainer.ema["text.embedding.weight"]
    assert len(rows) == known.size + 1
    assert torch.equal(rows[-1], rows[UNKNOWN])
    assert np.array_equal(actions(tmp_path / "again"), actions(folder))


def test_a_policy_that_reads_gives_no_beginning_to_one_that_does_not(
    others: Demonstrations, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(CheckpointError, match="reads words"):
        begun(others, folder, tmp_path / "run", replace(PLAN, language=False))


def test_damaged_weights_are_refused(folder: Path) -> None:
    weights = folder / WEIGHTS
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\0")
    with pytest.raises(HashMismatch):
        WarmStart.read(folder)
    assert (folder / SUMS).exists()


def test_the_command_begins_with_a_folder_and_says_which_sizes_it_has(tmp_path: Path, folder: Path) -> None:
    data = write_demos(tmp_path / "data", seed=4)
    common = ["train", "film", "--data", str(data), "--run", str(tmp_path / "run"), "--out", str(tmp_path / "toy")]
    common += ["--samples", "16", "--batch", "8", "--start-from", str(folder), "--json"]
    out = StringIO()
    call_command(*common, stdout=out)
    assert json.loads(out.getvalue())["training"]["before"][0]["policy"] == "film-toy"
    with pytest.raises(CommandError, match="--channels 32"):
        call_command(*common, "--channels", "48", stdout=out)


def test_steps_change_the_weights_that_it_began_with(others: Demonstrations, folder: Path, tmp_path: Path) -> None:
    trainer = begun(others, folder, tmp_path / "run")
    start = {name: value.clone() for name, value in trainer.ema.items()}
    trainer.step()
    assert not all(torch.equal(value, start[name]) for name, value in trainer.ema.items())
