"""An OpenVLA folder opens as published, and one that is not whole is refused by name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from policies.base import BadCard, BadTensors, HashMismatch, MissingFile, MissingStatistics
from policies.folder import write_json, write_sums
from policies.openvla.policy import OpenVLAPolicy
from policies.registry import describe, open_policy
from simulation.contracts import ACTION_CHUNK, Observation
from tests.policies.tiny_networks import BRIDGE, SIDE, write_openvla

SHARD = "model-00001-of-00002.safetensors"
INDEX = "model.safetensors.index.json"
LAST = "projector.fc3.bias"


@pytest.fixture(scope="module")
def _published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_openvla(tmp_path_factory.mktemp("openvla") / "openvla-tiny")


@pytest.fixture
def folder(_published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_published, tmp_path / "openvla-tiny"))


def look(instruction: str = "pick up the red cube") -> Observation:
    image = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    return Observation({"workspace": image}, np.zeros(8, np.float32), instruction, 0)


def opened(folder: Path, statistics_key: str | None = None) -> OpenVLAPolicy:
    policy = open_policy(folder, statistics_key=statistics_key)
    assert isinstance(policy, OpenVLAPolicy)
    return policy


def change_shard(folder: Path, change: Callable[[dict[str, Tensor]], object]) -> str:
    """Answers the name of the shard's first tensor."""
    tensors = load_file(folder / SHARD)
    name = min(tensors)
    change(tensors)
    save_file(tensors, folder / SHARD)
    return name


def test_a_published_folder_opens_without_a_policy_json_and_plays(folder: Path) -> None:
    policy = opened(folder)
    assert (policy.spec.id, policy.spec.family, policy.spec.chunk) == ("openvla-tiny", "openvla", 1)
    assert policy.spec.statistics_key == "bridge_orig"
    assert (policy.spec.cameras[0].height, policy.spec.cameras[0].width) == (SIDE, SIDE)
    policy.reset("pick up the red cube", 0)
    actions = policy.infer(look())
    ACTION_CHUNK.check(actions)
    assert actions.shape == (1, 7)
    assert (actions[0, :6] >= np.array(BRIDGE["q01"][:6])).all()
    assert (actions[0, :6] <= np.array(BRIDGE["q99"][:6])).all()
    assert 0 <= actions[0, 6] <= 1


def test_the_same_look_gives_the_same_action_whatever_the_seed(folder: Path) -> None:
    policy = opened(folder)
    policy.reset("pick up the red cube", 1)
    first = policy.infer(look())
    policy.reset("pick up the red cube", 2)
    assert (policy.infer(look()) == first).all()


def test_several_pictures_and_prompts_in_one_pass_give_what_each_gives_alone(folder: Path) -> None:
    policy = opened(folder)
    prompts = [policy.prompts.encode(text, 7) for text in ("pick up the red cube", "cube")]
    images = [np.random.default_rng(seed).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8) for seed in (1, 2)]
    together = policy.predict(images, prompts)
    alone = [policy.predict([image], [prompt])[0] for image, prompt in zip(images, prompts, strict=True)]
    assert (together == np.stack(alone)).all()


def test_weights_kept_in_bfloat16_are_float32_on_a_cpu(folder: Path) -> None:
    weight = opened(folder).network.language_model.lm_head.weight
    assert weight.dtype == torch.float32
    stored = load_file(folder / SHARD) | load_file(folder / SHARD.replace("00001-of", "00002-of"))
    assert torch.equal(weight, stored["language_model.lm_head.weight"].float())


def test_weights_in_one_file_open_too(tmp_path: Path) -> None:
    assert opened(write_openvla(tmp_path / "single", shards=1)).spec.id == "single"


def test_a_fine_tunes_statistics_replace_those_in_the_configuration(folder: Path) -> None:
    own = BRIDGE | {"q01": [-1.0] * 7, "q99": [-0.5] * 7}
    write_json(folder / "dataset_statistics.json", {"kitchen": {"action": own}})
    policy = opened(folder)
    assert policy.spec.statistics_key == "kitchen"
    assert policy.infer(look())[0, 0] <= -0.5


def test_the_statistics_key_asked_for_is_used(folder: Path) -> None:
    own = BRIDGE | {"q01": [-1.0] * 7, "q99": [-0.5] * 7}
    write_json(folder / "dataset_statistics.json", {"kitchen": {"action": own}, "bridge_orig": {"action": BRIDGE}})
    assert opened(folder).infer(look())[0, 0] >= -0.1
    assert opened(folder, "kitchen").infer(look())[0, 0] <= -0.5


def test_an_unknown_statistics_key_lists_the_known_ones(folder: Path) -> None:
    with pytest.raises(MissingStatistics, match=r"'moon' is missing; known: bridge_orig"):
        open_policy(folder, statistics_key="moon")


@pytest.mark.parametrize("name", ["preprocessor_config.json", "tokenizer.json", SHARD])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(MissingFile, match=name):
        open_policy(folder)


def test_without_any_weights_the_file_that_should_be_there_is_named(folder: Path) -> None:
    for path in (folder / INDEX, *folder.glob("*.safetensors")):
        path.unlink()
    with pytest.raises(MissingFile, match=r"model\.safetensors is missing"):
        open_policy(folder)


def test_a_folder_of_nothing_known_says_what_it_should_have(tmp_path: Path) -> None:
    with pytest.raises(MissingFile, match=r"policy\.json is missing.*config\.json"):
        describe(tmp_path)


def test_an_unknown_architecture_lists_the_known_ones(folder: Path) -> None:
    write_json(folder / "config.json", {"model_type": "llava"})
    with pytest.raises(BadCard, match=r"'llava'; known: openvla, octo"):
        open_policy(folder)


def test_a_truncated_shard_names_its_first_tensor_that_is_not_whole(folder: Path) -> None:
    content = (folder / SHARD).read_bytes()
    length = int.from_bytes(content[:8], "little")
    places = json.loads(content[8 : 8 + length])
    places.pop("__metadata__", None)
    cut = len(content) - 8 - length - 1000  # of the data
    expected = min((p["data_offsets"][0], name) for name, p in places.items() if p["data_offsets"][1] > cut)[1]
    (folder / SHARD).write_bytes(content[:-1000])
    with pytest.raises(BadTensors, match=f"tensor {expected} is cut short"):
        open_policy(folder)


@pytest.mark.parametrize("length", [0, 5, 200])
def test_a_shard_cut_within_its_header_is_refused(folder: Path, length: int) -> None:
    (folder / SHARD).write_bytes((folder / SHARD).read_bytes()[:length])
    with pytest.raises(BadTensors, match=f"{SHARD}: not a safetensors file"):
        open_policy(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_numbers_are_refused_by_name(folder: Path, value: float) -> None:
    name = change_shard(folder, lambda tensors: tensors[min(tensors)].view(-1)[:1].fill_(value))
    with pytest.raises(BadTensors, match=f"{name} holds a number that is not finite"):
        open_policy(folder)


def test_a_misshapen_tensor_is_named_with_the_shape_it_should_have(folder: Path) -> None:
    name = change_shard(folder, lambda tensors: tensors.update({min(tensors): torch.zeros(3)}))
    with pytest.raises(BadTensors, match=rf"{name} is \[3\], expected \["):
        open_policy(folder)


def test_a_tensor_missing_from_its_shard_is_named(folder: Path) -> None:
    name = change_shard(folder, lambda tensors: tensors.pop(min(tensors)))
    with pytest.raises(BadTensors, match=f"tensor {name} is missing"):
        open_policy(folder)


def test_a_tensor_that_the_index_forgets_is_still_missed_or_found(folder: Path) -> None:
    index = json.loads((folder / INDEX).read_text("utf-8"))
    shard = index["weight_map"].pop(LAST)
    tensors = load_file(folder / shard)
    del tensors[LAST]
    save_file(tensors, folder / shard)
    write_json(folder / INDEX, index)
    with pytest.raises(BadTensors, match=rf"tensor {LAST} \[48\] is missing"):
        open_policy(folder)


def test_a_tensor_too_many_is_named(folder: Path) -> None:
    change_shard(folder, lambda tensors: tensors.update(stowaway=torch.zeros(3)))
    with pytest.raises(BadTensors, match=r"stowaway .* not part of the network"):
        open_policy(folder)


def test_numbers_of_another_kind_are_refused_by_name(folder: Path) -> None:
    name = change_shard(folder, lambda tensors: tensors.update({min(tensors): tensors[min(tensors)].to(torch.int8)}))
    with pytest.raises(BadTensors, match=f"{name} is I8, expected one of F32, F16, BF16"):
        open_policy(folder)


def test_an_index_that_leads_out_of_the_folder_is_refused(folder: Path) -> None:
    write_json(folder / INDEX, {"weight_map": {LAST: "../elsewhere.safetensors"}})
    with pytest.raises(BadTensors, match="not the name of a file"):
        open_policy(folder)


def test_hashes_that_a_published_folder_brings_are_checked(folder: Path) -> None:
    write_sums(folder)
    assert opened(folder)
    (folder / SHARD).write_bytes((folder / SHARD).read_bytes()[:-1] + b"?")
    with pytest.raises(HashMismatch, match=SHARD):
        open_policy(folder)


def test_an_own_folder_with_a_card_needs_its_weights_listed(folder: Path) -> None:
    write_json(folder / "policy.json", describe(folder).to_json() | {"id": "mini", "name": "OpenVLA mini"})
    write_sums(folder)
    assert opened(folder).spec.name == "OpenVLA mini"
    kept = [line for line in (folder / "SHA256SUMS").read_text("utf-8").splitlines() if not line.endswith(SHARD)]
    (folder / "SHA256SUMS").write_text("\n".join(kept) + "\n", "utf-8")
    with pytest.raises(HashMismatch, match=f"{SHARD} is not listed"):
        open_policy(folder)


def test_a_tokenizer_of_more_words_than_the_network_has_rows_is_refused(folder: Path) -> None:
    data = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    data["model"]["vocab"]["far"] = 336
    write_json(folder / "tokenizer.json", data)
    with pytest.raises(BadCard, match="ids up to 336"):
        open_policy(folder)


def test_pictures_of_another_size_than_the_towers_take_are_refused(folder: Path) -> None:
    data = json.loads((folder / "preprocessor_config.json").read_text("utf-8"))
    data["tvf_crop_params"] = [{"output_size": [SIDE + 7, SIDE]}] * 2
    write_json(folder / "preprocessor_config.json", data)
    with pytest.raises(BadCard, match="the vision towers take"):
        open_policy(folder)


def test_of_an_instruction_too_long_the_beginning_is_read(folder: Path) -> None:
    policy = opened(folder)
    policy.reset("pick " * 3000, 0)
    ids = policy.prompts.encode("pick " * 3000, 7)
    assert policy.prompts.room(7) - 2 <= len(ids) <= policy.prompts.room(7)


def test_a_model_without_room_for_a_question_is_refused_when_it_is_opened(folder: Path) -> None:
    data = json.loads((folder / "config.json").read_text("utf-8"))
    write_json(folder / "config.json", data | {"llm_max_length": 12})
    with pytest.raises(BadCard, match="without an instruction"):
        open_policy(folder)


def test_the_revision_changes_when_a_file_does(folder: Path) -> None:
    before = describe(folder).revision
    with (folder / SHARD).open("ab") as stream:
        stream.write(b" ")
    assert describe(folder).revision != before
