"""Policies computed by ONNX Runtime: the numbers of torch, and torch wherever they are not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from policies.base import BadTensors
from policies.film import opening, policy
from policies.film.exported import ExportedFilmPolicy
from policies.film.policy import FilmPolicy
from policies.folder import CARD, REFERENCE, WEIGHTS, read_card, read_json, write_json, write_sums
from policies.memory import expected_bytes, measured_bytes, parameters
from policies.reference import open_with_torch, write_reference
from policies.registry import open_policy
from simulation.contracts import POLICY_CAMERA, Observation

SHIPPED = Path(__file__).resolve().parents[2] / "policies" / "weights"
FOLDERS = sorted(path.parent for path in SHIPPED.glob("*/policy.json"))
TOLERANCES = {"film": 2e-6, "octo": 1e-4, "openvla": 0.0}  # m, rad; of a head that repeats itself, and of whole tokens
TEXTS = ("put the red cube on the left plate", "", "xyzzy", "open the drawer and push the blue thing to the left of it")
PLAY = """
import sys, django
django.setup()
from pathlib import Path
from robots.runtime import WorkerRuntime
from policies.registry import open_policy
WorkerRuntime()
for folder in sys.argv[1:]:
    policy = open_policy(Path(folder))
    policy.infer(policy.spec.grey_observation("pick up the red cube"))
    print(policy.spec.id, "torch" in sys.modules)
"""


def looks(text: str, count: int = 6) -> Iterator[Observation]:
    random = np.random.default_rng(7)
    shape = (POLICY_CAMERA.height, POLICY_CAMERA.width, 3)
    for step in range(count):
        picture = random.integers(0, 256, shape, dtype=np.uint8) // (1 + step % 3)
        yield Observation({POLICY_CAMERA.name: picture}, random.normal(0, 0.3, 8).astype(np.float32), text, step)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_shipped_policy_is_played_without_torch_and_answers_what_torch_does(folder: Path) -> None:
    here, by_torch = open_policy(folder), open_with_torch(folder)
    assert type(here).__name__.startswith("Exported")
    for text in TEXTS:
        here.reset(text, 3)
        by_torch.reset(text, 3)
        for look in looks(text):
            assert here.infer(look) == pytest.approx(by_torch.infer(look), abs=TOLERANCES[here.spec.family])


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_its_size_is_that_of_torchs_network(folder: Path) -> None:
    here, by_torch = open_policy(folder), open_with_torch(folder)
    assert parameters(here) == parameters(by_torch)
    assert measured_bytes(here) == pytest.approx(measured_bytes(by_torch), rel=0.02)
    assert measured_bytes(here) == expected_bytes(folder)


def test_a_worker_that_hosts_every_shipped_policy_does_not_load_torch() -> None:
    found = subprocess.run(
        [sys.executable, "-c", PLAY, *map(str, FOLDERS)],
        env={"DJANGO_SETTINGS_MODULE": "vlaarena.settings", "PATH": "/usr/bin:/bin"},
        cwd=SHIPPED.parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.splitlines() == [f"{folder.name} False" for folder in FOLDERS]


def test_training_keeps_what_torch_answers_so_that_the_folder_is_played_without_it(folder: Path) -> None:
    assert isinstance(open_policy(folder), ExportedFilmPolicy)


def test_a_folder_made_before_is_played_by_torch_until_its_answers_are_kept(folder: Path) -> None:
    (folder / REFERENCE).unlink()
    write_sums(folder)
    assert isinstance(open_policy(folder), FilmPolicy)
    write_reference(folder)
    assert isinstance(open_policy(folder), ExportedFilmPolicy)


def test_torch_plays_where_other_answers_come_out(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept = read_json(folder, REFERENCE)
    kept["actions"][2][1][0] += 0.01
    write_json(folder / REFERENCE, kept)
    write_sums(folder)
    assert isinstance(open_policy(folder), FilmPolicy)
    assert "answers something else" in caplog.text


@pytest.mark.parametrize("content", [{}, {"actions": [[0.0]]}, {"actions": "much"}, {"actions": [[[1, 2], [3]]]}])
def test_torch_plays_where_the_kept_answers_are_no_answers(folder: Path, content: dict[str, object]) -> None:
    write_json(folder / REFERENCE, content)
    write_sums(folder)
    assert isinstance(open_policy(folder), FilmPolicy)


def test_torch_plays_on_any_other_device_and_without_onnx_runtime(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = read_card(folder)
    asked: list[str | None] = []
    monkeypatch.setattr(policy, "open_film", lambda _folder, _card, device: asked.append(device))
    opening.open_film(folder, card, "cuda")
    monkeypatch.setattr("policies.registry.find_spec", lambda _name: None)
    opening.open_film(folder, card, "cpu")
    assert asked == ["cuda", "cpu"]


def test_torch_plays_weights_that_are_not_small(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policies.registry.MOST_EXPORTED", 1000)
    assert isinstance(open_policy(folder), FilmPolicy)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weights: weights.update(extra=np.zeros(2, np.float32)), "tensor extra .* is not part of the network"),
        (lambda weights: weights.pop("maps.bias"), "tensor maps.bias .* is missing"),
        (lambda weights: weights.update({"stem1.bias": np.zeros(3, np.float32)}), "tensor stem1.bias is"),
        (lambda weights: weights["head.0.bias"].fill(np.nan), "not finite"),
    ],
)
def test_weights_that_are_not_the_networks_are_refused_as_torch_refuses_them(
    folder: Path, change: object, message: str
) -> None:
    weights = {name: array.copy() for name, array in load_file(folder / WEIGHTS).items()}
    change(weights)  # type: ignore[operator]
    save_file(weights, folder / WEIGHTS)
    write_sums(folder)
    with pytest.raises(BadTensors, match=message):
        open_policy(folder)


def test_two_opened_policies_do_not_share_what_they_saw(folder: Path) -> None:
    one, other = open_policy(folder), open_policy(folder)
    grey = one.spec.grey_observation("lift the red cube")
    before = one.infer(grey)
    camera = one.spec.cameras[0].name
    other.infer(replace(grey, images={camera: np.zeros_like(grey.images[camera])}))
    assert np.array_equal(one.infer(grey), before)


def test_the_kept_answers_are_listed_in_the_hashes_of_every_shipped_folder() -> None:
    for folder in FOLDERS:
        assert REFERENCE in (folder / "SHA256SUMS").read_text()
        assert (folder / CARD).is_file()
