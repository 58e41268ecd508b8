"""Octo's configuration gives exactly the published checkpoints' tensors; other architectures are refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgpack
import pytest

from policies import checkpoints
from policies.base import BadCard
from policies.networks.octo import Octo
from policies.networks.octo_sizes import OctoConfig
from policies.octo.config import read_config
from policies.octo.shapes import InputShapes, read_shapes
from tests.policies.tiny_networks import DATA, IMAGES, octo_json, published_octo_json

SIZES = InputShapes({"image_primary": (256, 256), "image_wrist": (128, 128)}, 2)
TINY = InputShapes(IMAGES, 2)


@pytest.mark.parametrize(
    ("name", "sizes", "parameters"), [("base", (768, 12, 3072), 92_830_092), ("small", (384, 6, 1536), 27_042_060)]
)
def test_names_and_shapes_are_exactly_those_of_the_published_checkpoint(
    name: str, sizes: tuple[int, int, int], parameters: int
) -> None:
    network = checkpoints.build(lambda: Octo(read_config(published_octo_json(*sizes), SIZES)))
    tensors = network.state_dict()
    shapes = {name.replace(".", "/"): list(tensor.shape) for name, tensor in tensors.items()}
    assert len(shapes) == 366
    assert shapes == json.loads((DATA / f"octo-{name}-1.5.json").read_text("utf-8"))
    own = [tensor.numel() for name, tensor in tensors.items() if "hf_model" not in name]
    assert sum(own) == parameters


def test_the_published_numbers_of_tokens_follow_from_the_pictures() -> None:
    config = read_config(published_octo_json(768, 12, 3072), SIZES)
    assert [camera.tokens for camera in config.cameras] == [256, 64]
    assert (config.window, config.text.tokens, config.head.horizon) == (2, 16, 4)
    assert (config.head.steps, config.head.max_action) == (20, 5.0)


def changed(path: str, value: Any) -> dict[str, Any]:
    data = octo_json()
    *parents, last = path.split(".")
    place = data
    for part in parents:
        place = place[part]
    place[last] = value
    return data


CAMERA = "model.observation_tokenizers.primary"
HEAD = "model.heads.action"


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (f"{CAMERA}.name", "LowdimObsTokenizer", "'LowdimObsTokenizer'; supported: ImageTokenizer"),
        (f"{CAMERA}.kwargs.use_token_learner", True, "use_token_learner is True"),
        (f"{CAMERA}.kwargs.task_film_keys", ["language_instruction"], "task_film_keys"),
        (f"{CAMERA}.kwargs.obs_stack_keys", ["image_.*"], "exactly one name"),
        (f"{CAMERA}.kwargs.encoder.name", "ResNet26FILM", "'ResNet26FILM'; supported: SmallStem16"),
        (f"{CAMERA}.kwargs.encoder.kwargs.features", [32, 40, 32, 64], "40 is not a multiple of 32"),
        (f"{HEAD}.name", "MSEActionHead", "'MSEActionHead'; supported: DiffusionActionHead"),
        (f"{HEAD}.kwargs.use_map", True, "use_map is True"),
        (f"{HEAD}.kwargs.readout_key", "obs", "'obs', which is not a readout"),
        ("model.heads.value", {}, "heads action, value"),
        ("model.task_tokenizers", {}, "0 task tokenizers"),
        ("model.task_tokenizers.language.kwargs", {"encoder": "bert"}, "unknown text encoder 'bert'; known: t5-small"),
        ("text_processor.name", "MuseEmbedding", "'MuseEmbedding'; supported: HFTokenizer"),
        ("model.transformer_kwargs.add_position_embedding", True, "add_position_embedding"),
        ("model.transformer_kwargs.num_attention_heads", 5, "32 is not a multiple of 5"),
        ("model.max_horizon", 1, "a window of 2 frames"),
        ("model.readouts", None, "config.json"),
    ],
)
def test_a_configuration_of_something_else_is_refused_by_part(path: str, value: Any, words: str) -> None:
    with pytest.raises(BadCard, match=words):
        read_config(changed(path, value), TINY)


def test_a_part_that_is_missing_is_named() -> None:
    data = octo_json()
    del data["model"]["token_embedding_size"]
    with pytest.raises(BadCard, match="'token_embedding_size' is missing"):
        read_config(data, TINY)


def test_flags_of_the_first_release_are_off_when_its_configuration_is_silent() -> None:
    data = octo_json()
    del data["model"]["repeat_task_tokens"], data["model"]["use_correct_attention"]
    config = read_config(data, TINY)
    assert (config.repeat_task_tokens, config.use_correct_attention) == (False, False)


def test_the_first_releases_word_for_the_chunk_is_understood() -> None:
    data = octo_json()
    kwargs = data["model"]["heads"]["action"]["kwargs"]
    kwargs["pred_horizon"] = kwargs.pop("action_horizon")
    assert read_config(data, TINY).head.horizon == 3


def test_a_camera_that_training_never_saw_has_no_tensors() -> None:
    config = read_config(octo_json(), InputShapes({"image_primary": (48, 64)}, 2))
    names = checkpoints.build(lambda: Octo(config)).state_dict()
    assert not any("wrist" in name for name in names)


def test_without_any_picture_size_the_configuration_is_refused() -> None:
    with pytest.raises(BadCard, match="none of its cameras"):
        read_config(octo_json(), InputShapes({}, 2))


def test_picture_sizes_are_read_from_the_training_set_up_when_there_is_no_example(tmp_path: Path) -> None:
    frames = {"frame_transform_kwargs": {"resize_size": {"primary": [256, 256], "wrist": [128, 128]}}}
    assert read_shapes(tmp_path, {"window_size": 2, "dataset_kwargs": frames}) == SIZES


def test_when_nothing_tells_the_picture_size_the_error_says_what_would(tmp_path: Path) -> None:
    with pytest.raises(BadCard, match=r"example_batch\.msgpack"):
        read_shapes(tmp_path, {"window_size": 2})


@pytest.mark.parametrize("content", [b"", b"\xc1", b"\x80", msgpack.packb({"observation": {"pad_mask": 3}})])
def test_an_unreadable_example_batch_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "example_batch.msgpack").write_bytes(content)
    with pytest.raises(BadCard, match="not an example batch"):
        read_shapes(tmp_path, {})


def test_the_configuration_of_a_tiny_network_is_read_whole() -> None:
    config: OctoConfig = read_config(octo_json(), TINY)
    assert (config.dim, config.layers, config.heads, config.mlp) == (32, 3, 4, 64)
    assert config.text.encoder.buckets == 8
    assert config.cameras[0].stem.features == (32, 64, 32, 64)
