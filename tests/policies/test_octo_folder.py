"""An Octo folder opens as published, read with msgpack alone, and one that is not whole is refused by name."""

from __future__ import annotations

import json
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
import torch
from django.core.management import CommandError, call_command
from numpy.testing import assert_allclose
from torch import Tensor

from policies import flax_checkpoint
from policies.base import BadCard, BadTensors, HashMismatch, MissingFile, MissingStatistics
from policies.checkpoints import read
from policies.folder import write_json, write_sums
from policies.networks.octo import OctoObservation, OctoTask
from policies.octo.policy import OctoPolicy
from policies.octo.scale import fit
from policies.registry import describe, open_policy
from simulation.contracts import ACTION_CHUNK, Observation
from tests.policies.tiny_networks import BRIDGE, octo_json, pack_array, pack_tree, tiny_octo, write_octo

CHECKPOINT = Path("300/default/checkpoint")
FIRST = "octo_transformer.task_language_pos_embedding"


@pytest.fixture(scope="module")
def _published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_octo(tmp_path_factory.mktemp("octo") / "octo-tiny")


@pytest.fixture(scope="module")
def tensors() -> dict[str, Tensor]:
    return tiny_octo().state_dict()


@pytest.fixture
def folder(_published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_published, tmp_path / "octo-tiny"))


def look(seed: int = 0, instruction: str = "pick up the red cube") -> Observation:
    image = np.random.default_rng(seed).integers(0, 256, (48, 64, 3), dtype=np.uint8)
    return Observation({"workspace": image}, np.zeros(8, np.float32), instruction, 0)


def opened(folder: Path) -> OctoPolicy:
    policy = open_policy(folder)
    assert isinstance(policy, OctoPolicy)
    return policy


def replace(folder: Path, tensors: dict[str, Any], **changes: Any) -> None:
    """`changes` name tensors with __ for dots; None removes one."""
    named = {name.replace("__", "."): value for name, value in changes.items()}
    kept = {name: value for name, value in (tensors | named).items() if value is not None}
    (folder / CHECKPOINT).write_bytes(pack_tree(kept))


# ---- playing -------------------------------------------------------------------------------------------------------


def test_a_published_folder_opens_without_a_policy_json_and_plays(folder: Path) -> None:
    policy = opened(folder)
    assert (policy.spec.id, policy.spec.family, policy.spec.chunk) == ("octo-tiny", "octo", 3)
    assert policy.spec.chunking.ensemble == 1.0
    assert policy.spec.statistics_key == "bridge_dataset"
    policy.reset("pick up the red cube", 0)
    actions = policy.infer(look())
    ACTION_CHUNK.check(actions)
    assert actions.shape == (3, 7)
    assert (np.abs(actions[:, :6] - 0.01) <= 5 * 0.2 + 1e-6).all()
    assert ((actions[:, 6] >= 0) & (actions[:, 6] <= 1)).all()


def test_every_weight_arrives_as_it_was_written(folder: Path, tensors: dict[str, Tensor]) -> None:
    loaded = opened(folder).network.state_dict()
    assert loaded.keys() == tensors.keys()
    assert all(torch.equal(loaded[name], tensor) for name, tensor in tensors.items())


def test_a_seed_decides_the_whole_rollout(folder: Path) -> None:
    policy = opened(folder)
    rollouts = []
    for seed in (1, 1, 2):
        policy.reset("pick up the red cube", seed)
        rollouts.append(np.stack([policy.infer(look(step)) for step in range(3)]))
    assert (rollouts[0] == rollouts[1]).all()
    assert (rollouts[0] != rollouts[2]).any()


def drawn(policy: OctoPolicy, seed: int, count: int) -> tuple[Tensor, Tensor]:
    """The noise of a rollout's `count`-th inference."""
    noise = torch.Generator().manual_seed(seed)
    for _ in range(count):
        first = torch.randn((1, 2, 21), generator=noise)
        later = torch.randn((20, 1, 2, 21), generator=noise)
    return first, later


def test_the_first_frame_is_repeated_and_marked_until_the_window_is_full(folder: Path) -> None:
    policy = opened(folder)
    network, seen = policy.network, [torch.from_numpy(look(step).images["workspace"]) for step in (1, 2)]
    ids, present = map(torch.from_numpy, policy.text.encode("pick up the red cube"))
    task = OctoTask(network.encode_text(ids, present))
    policy.reset("pick up the red cube", 7)
    for step, frames, shown in ((1, [seen[0], seen[0]], [False, True]), (2, seen, [True, True])):
        window = OctoObservation({"primary": torch.stack(frames)[None]}, torch.tensor([shown]))
        normalised = network.sample(network(window, task), *drawn(policy, 7, step))[0]
        expected = policy.scale.unnormalise(normalised.double().numpy())
        # Twenty steps of noise make last bits larger: 2e-5 was seen. Another frame or mark changes the first digit.
        assert_allclose(policy.infer(look(step))[:, :6], expected[:, :6], atol=1e-3)


def test_a_reset_forgets_the_frames(folder: Path) -> None:
    policy = opened(folder)
    policy.reset("pick up the red cube", 0)
    first = policy.infer(look(1))
    policy.infer(look(2))
    policy.reset("pick up the red cube", 0)
    assert (policy.infer(look(1)) == first).all()


def test_the_wrist_camera_that_the_arena_lacks_is_left_out(folder: Path) -> None:
    opening = opened(folder)
    for name, tensor in opening.network.state_dict().items():
        if "wrist" in name:
            tensor.fill_(float("nan"))
    policy = OctoPolicy(opening.spec, opening.network, opening.text, opening.scale)
    assert np.isfinite(policy.infer(look())).all()


def test_the_text_is_encoded_once_per_instruction(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = opened(folder)
    encoded: list[Tensor] = []
    original = policy.network.encode_text

    def watched(ids: Tensor, present: Tensor) -> Tensor:
        encoded.append(ids)
        return original(ids, present)

    monkeypatch.setattr(policy.network, "encode_text", watched)
    policy.reset("pick up the red cube", 0)
    for step in range(3):
        policy.infer(look(step))
    assert len(encoded) == 1
    policy.infer(look(4, "pick up the cube"))
    assert [ids.tolist() for ids in encoded] == [[[3, 4, 5, 6, 7, 1]], [[3, 4, 5, 7, 1, 0]]]


def test_of_more_words_than_tokens_the_first_are_read_and_the_end(folder: Path) -> None:
    """As published: transformers cuts to the length with the end in it."""
    ids, present = opened(folder).text.encode("pick up the red red cube")
    assert ids.tolist() == [[3, 4, 5, 6, 6, 1]]
    assert present.all()


def test_an_empty_instruction_is_only_its_end(folder: Path) -> None:
    ids, present = opened(folder).text.encode("")
    assert ids.tolist() == [[1, 0, 0, 0, 0, 0]]
    assert present.tolist() == [[True] + [False] * 5]


def test_a_picture_of_another_size_is_brought_to_the_cameras(folder: Path) -> None:
    camera = opened(folder).network.config.cameras[0]
    picture = np.full((96, 128, 3), 77, np.uint8)
    assert fit(picture, camera).shape == (48, 64, 3)
    assert (fit(picture, camera) == 77).all()


def test_means_and_deviations_scale_all_but_the_masked_gripper(folder: Path) -> None:
    scale = opened(folder).scale
    actions = scale.unnormalise(np.full((1, 7), 0.5))
    assert actions[0].tolist() == pytest.approx([0.5 * 0.2 + 0.01] * 6 + [0.5])
    assert scale.normalise(actions) == pytest.approx(np.full((1, 7), 0.5))


def test_a_fine_tunes_statistics_without_a_key_are_used(folder: Path) -> None:
    write_json(folder / "dataset_statistics.json", {"action": BRIDGE | {"mean": [0.3] * 7}, "num_trajectories": 3})
    assert opened(folder).scale.mean.tolist() == [0.3] * 7


def test_an_unknown_statistics_key_lists_the_known_ones(folder: Path) -> None:
    with pytest.raises(MissingStatistics, match=r"'moon' is missing; known: bridge_dataset"):
        open_policy(folder, statistics_key="moon")


# ---- the checkpoint file -------------------------------------------------------------------------------------------


def test_the_highest_step_is_read(folder: Path) -> None:
    (folder / "9" / "default").mkdir(parents=True)
    (folder / "9" / "default" / "checkpoint").write_bytes(b"older")
    assert flax_checkpoint.find_checkpoint(folder) == folder / CHECKPOINT


def test_a_checkpoint_beside_its_configuration_is_read(tmp_path: Path) -> None:
    assert opened(write_octo(tmp_path / "flat", step=None)).spec.id == "flat"


def test_without_a_checkpoint_the_places_looked_at_are_named(folder: Path) -> None:
    shutil.rmtree(folder / "300")
    with pytest.raises(MissingFile, match=r"<step>/default/checkpoint"):
        open_policy(folder)


@pytest.mark.parametrize("name", ["dataset_statistics.json", "tokenizer.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(MissingFile, match=name):
        open_policy(folder)


def test_arrays_that_flax_splits_are_put_together(tmp_path: Path) -> None:
    whole = np.arange(30, dtype=np.float32).reshape(5, 6)
    chunks = {str(i): pack_array(whole.reshape(-1)[begin : begin + 7]) for i, begin in enumerate(range(0, 30, 7))}
    split = {"__msgpack_chunked_array__": True, "shape": {"0": 5, "1": 6}, "chunks": chunks}
    path = tmp_path / "checkpoint"
    path.write_bytes(msgpack.packb({"a": {"b": split, "c": pack_array(whole)}, "d": pack_array(np.float32([7]))}))
    found = flax_checkpoint.read_header(path)
    assert list(found) == ["a.b", "a.c", "d"]
    assert (read("a.b", found["a.b"]).numpy() == whole).all()
    assert (read("a.c", found["a.c"]).numpy() == whole).all()
    assert read("d", found["d"]).tolist() == [7.0]


@pytest.mark.parametrize("size", [1, 14, 200, 70_000])
def test_arrays_of_any_size_are_found(tmp_path: Path, size: int) -> None:
    values = np.random.default_rng(0).standard_normal(size).astype(np.float32)
    path = tmp_path / "checkpoint"
    path.write_bytes(pack_tree({"x" * 40: values, "y": torch.ones(3, dtype=torch.bfloat16)}))
    found = flax_checkpoint.read_header(path)
    assert (read("x", found["x" * 40]).numpy() == values).all()
    assert read("y", found["y"]).dtype == torch.bfloat16


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.9999])
def test_a_truncated_checkpoint_names_the_tensor_where_it_ends(folder: Path, share: float) -> None:
    content = (folder / CHECKPOINT).read_bytes()
    places = flax_checkpoint.read_header(folder / CHECKPOINT)
    cut = int(len(content) * share)
    (folder / CHECKPOINT).write_bytes(content[:cut])
    broken = [name for name, tensor in places.items() if sum(tensor.pieces[-1]) > cut]
    with pytest.raises(BadTensors, match="empty" if share == 0 else broken[0]):
        open_policy(folder)


def test_weights_that_are_not_numbers_are_refused_by_name(folder: Path, tensors: dict[str, Tensor]) -> None:
    bad = tensors[FIRST].clone()
    bad[0, 0, 0] = float("nan")
    replace(folder, tensors, octo_transformer__task_language_pos_embedding=bad)
    with pytest.raises(BadTensors, match=f"{FIRST} holds a number that is not finite"):
        open_policy(folder)


def test_a_misshapen_tensor_is_named_with_the_shape_it_should_have(folder: Path, tensors: dict[str, Tensor]) -> None:
    replace(folder, tensors, octo_transformer__task_language_pos_embedding=torch.zeros(1, 16, 32))
    with pytest.raises(BadTensors, match=rf"{FIRST} is \[1, 16, 32\], expected \[1, 6, 32\]"):
        open_policy(folder)


def test_a_missing_tensor_is_named(folder: Path, tensors: dict[str, Tensor]) -> None:
    replace(folder, tensors, octo_transformer__task_language_pos_embedding=None)
    with pytest.raises(BadTensors, match=rf"{FIRST} \[1, 6, 32\] is missing"):
        open_policy(folder)


def test_a_tensor_too_many_is_named(folder: Path, tensors: dict[str, Tensor]) -> None:
    replace(folder, tensors, stowaway=torch.zeros(3))
    with pytest.raises(BadTensors, match="stowaway"):
        open_policy(folder)


def test_a_weight_kept_outside_of_the_file_is_refused_by_name(folder: Path, tensors: dict[str, Tensor]) -> None:
    replace(folder, tensors, octo_transformer__task_language_pos_embedding="PLACEHOLDER://elsewhere")
    with pytest.raises(BadTensors, match=f"{FIRST} is not an array"):
        open_policy(folder)


def test_numbers_of_another_kind_are_refused_by_name(folder: Path, tensors: dict[str, Tensor]) -> None:
    replace(folder, tensors, octo_transformer__task_language_pos_embedding=np.zeros((1, 6, 32), np.int32))
    with pytest.raises(BadTensors, match=f"{FIRST} is int32, expected one of float32"):
        open_policy(folder)


def test_an_array_with_fewer_bytes_than_its_shape_needs_is_refused(tmp_path: Path) -> None:
    lying = msgpack.ExtType(1, msgpack.packb(((4, 4), "float32", b"\0" * 8)))
    (tmp_path / "checkpoint").write_bytes(msgpack.packb({"a": lying}))
    with pytest.raises(BadTensors, match=r"a \[4, 4\] needs 64 bytes, the file gives it 8"):
        flax_checkpoint.read_header(tmp_path / "checkpoint")


@pytest.mark.parametrize(
    "content", [b"\xc1", b"hello", b"\x81\xa1a\x81\xa1b\xc1", msgpack.packb([1]), msgpack.packb({"a": 1})]
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "checkpoint").write_bytes(content)
    with pytest.raises(BadTensors):
        flax_checkpoint.read_header(tmp_path / "checkpoint")


def test_bytes_after_the_last_tensor_are_refused(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_bytes(pack_tree({"a": np.float32([1])}) + b"more")
    with pytest.raises(BadTensors, match="4 bytes too many"):
        flax_checkpoint.read_header(tmp_path / "checkpoint")


# ---- conversion ----------------------------------------------------------------------------------------------------


def convert(source: Path, target: Path) -> dict[str, Any]:
    out = StringIO()
    call_command("convert_checkpoint", "octo", str(source), str(target), "--json", stdout=out)
    report: dict[str, Any] = json.loads(out.getvalue())
    return report


def test_a_converted_folder_has_the_same_weights_and_plays_the_same(folder: Path, tmp_path: Path) -> None:
    report = convert(folder, tmp_path / "converted")
    files = sorted(path.name for path in (tmp_path / "converted").iterdir())
    assert files == ["SHA256SUMS", "config.json", "dataset_statistics.json", "model.safetensors", "tokenizer.json"]
    before, after = opened(folder), opened(tmp_path / "converted")
    weights = before.network.state_dict()
    assert report["tensors"] == len(weights)
    assert all(torch.equal(weights[name], tensor) for name, tensor in after.network.state_dict().items())
    for policy in (before, after):
        policy.reset("pick up the red cube", 5)
    assert (before.infer(look()) == after.infer(look())).all()


def test_a_converted_file_that_was_changed_is_noticed(folder: Path, tmp_path: Path) -> None:
    convert(folder, tmp_path / "converted")
    with (tmp_path / "converted" / "model.safetensors").open("ab") as stream:
        stream.write(b" ")
    with pytest.raises(HashMismatch, match=r"model\.safetensors"):
        open_policy(tmp_path / "converted")


def test_conversion_checks_as_strictly_as_opening(folder: Path, tensors: dict[str, Tensor], tmp_path: Path) -> None:
    replace(folder, tensors, octo_transformer__task_language_pos_embedding=torch.zeros(1))
    with pytest.raises(CommandError, match=FIRST):
        convert(folder, tmp_path / "converted")
    assert not (tmp_path / "converted").exists()


def test_conversion_does_not_write_over_anything(folder: Path) -> None:
    with pytest.raises(CommandError, match="not empty"):
        convert(folder, folder)


def test_an_own_folder_with_a_card_needs_its_weights_listed(folder: Path, tmp_path: Path) -> None:
    mini = tmp_path / "converted"
    convert(folder, mini)
    write_json(mini / "policy.json", describe(mini).to_json() | {"id": "octo-mini", "name": "Octo mini"})
    write_sums(mini)
    assert opened(mini).spec.name == "Octo mini"
    lines = [line for line in (mini / "SHA256SUMS").read_text("utf-8").splitlines() if "safetensors" not in line]
    (mini / "SHA256SUMS").write_text("\n".join(lines) + "\n", "utf-8")
    with pytest.raises(HashMismatch, match=r"model\.safetensors is not listed"):
        open_policy(mini)


def test_a_card_that_asks_for_more_cameras_than_the_network_has_is_refused(folder: Path, tmp_path: Path) -> None:
    mini = tmp_path / "converted"
    convert(folder, mini)
    card = describe(mini).to_json()
    write_json(mini / "policy.json", card | {"cameras": card["cameras"] * 3})
    write_sums(mini)
    with pytest.raises(BadCard, match="3 cameras; the network has 2"):
        open_policy(mini)


def test_actions_of_another_length_than_the_arenas_are_refused(folder: Path) -> None:
    data = octo_json()
    data["model"]["heads"]["action"]["kwargs"]["action_dim"] = 14
    write_json(folder / "config.json", data)
    with pytest.raises(BadCard, match="actions of 14 numbers"):
        open_policy(folder)
