"""What is commonly wrong with weights and data from elsewhere is said by its name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from policies.base import BadCard, DatasetError, MissingFile
from policies.checkpoints import WEIGHTS_INDEX
from policies.folder import LFS_POINTER, write_sums
from policies.memory import expected_bytes
from policies.registry import describe, open_policy
from policies.training.dataset import Demonstrations
from tests.policies.tiny_networks import BOS, SPACE, text_tokenizer, word_tokenizer, write_octo, write_openvla

POINTER = LFS_POINTER + b"v1\noid sha256:4d7a2146\nsize 6948961960\n"


def test_shards_without_their_index_are_named(tmp_path: Path) -> None:
    folder = write_openvla(tmp_path / "openvla")
    (folder / WEIGHTS_INDEX).unlink()
    shards = r"model-00001-of-00002\.safetensors and 1 more"
    for read in (open_policy, expected_bytes):
        with pytest.raises(MissingFile, match=f"{WEIGHTS_INDEX} is missing.*{shards}"):
            read(folder)


@pytest.mark.parametrize("name", ["model-00002-of-00002.safetensors", "tokenizer.json", "config.json"])
def test_a_pointer_of_git_lfs_is_no_file_of_openvla(tmp_path: Path, name: str) -> None:
    folder = write_openvla(tmp_path / "openvla")
    (folder / name).write_bytes(POINTER)
    with pytest.raises(MissingFile, match=f"{name}: a Git LFS pointer instead of the file; .*git lfs pull"):
        open_policy(folder)


def test_a_pointer_of_git_lfs_is_no_checkpoint_of_octo(tmp_path: Path) -> None:
    folder = write_octo(tmp_path / "octo")
    next(folder.rglob("checkpoint")).write_bytes(POINTER)
    with pytest.raises(MissingFile, match="checkpoint: a Git LFS pointer"):
        open_policy(folder)


def test_a_pointer_of_git_lfs_is_told_from_a_changed_file(tmp_path: Path) -> None:
    folder = write_openvla(tmp_path / "openvla", shards=1)
    write_sums(folder)
    (folder / "model.safetensors").write_bytes(POINTER)
    with pytest.raises(MissingFile, match=r"model\.safetensors: a Git LFS pointer"):
        open_policy(folder)


@pytest.mark.parametrize("part", ["action_head", "proprio_projector", "noisy_action_projector", "vision_backbone"])
def test_a_head_of_openvla_oft_is_refused_by_name(tmp_path: Path, part: str) -> None:
    folder = write_openvla(tmp_path / "oft")
    (folder / f"{part}--150000_checkpoint.pt").write_bytes(b"PK")
    with pytest.raises(BadCard, match=f"{part}--150000_checkpoint.pt: a part of OpenVLA-OFT.*bring-your-own-policy"):
        describe(folder)


def test_openvla_with_the_tokenizer_of_t5_is_refused(tmp_path: Path) -> None:
    folder = write_openvla(tmp_path / "openvla")
    text_tokenizer().save(str(folder / "tokenizer.json"))
    with pytest.raises(BadCard, match=rf"the wrong tokenizer: id {BOS} is '</s>', expected '<s>', as in Llama 2's"):
        open_policy(folder)


def test_openvla_with_another_tokenizer_that_begins_alike_is_refused(tmp_path: Path) -> None:
    folder = write_openvla(tmp_path / "openvla")
    data = json.loads(word_tokenizer().to_str())
    vocabulary = data["model"]["vocab"]
    vocabulary["lone"] = vocabulary.pop(" ")
    (folder / "tokenizer.json").write_text(json.dumps(data), "utf-8")
    with pytest.raises(BadCard, match=f"the wrong tokenizer: id {SPACE} is 'lone', expected .* Llama 2's"):
        open_policy(folder)


def test_octo_with_the_tokenizer_of_openvla_is_refused(tmp_path: Path) -> None:
    folder = write_octo(tmp_path / "octo")
    word_tokenizer().save(str(folder / "tokenizer.json"))
    with pytest.raises(BadCard, match="the wrong tokenizer: id 1 is '<s>', expected '</s>', as in T5's"):
        open_policy(folder)


@pytest.mark.parametrize(("write", "name"), [(write_openvla, "openvla-7b"), (write_octo, "octo-base")])
def test_a_snapshot_of_a_cache_has_the_repository_s_name(
    tmp_path: Path, write: Callable[[Path], Path], name: str
) -> None:
    folder = write(tmp_path / f"models--someone--{name}" / "snapshots" / "31f090d05236101ebfc381b61c674dd4746d4ce0")
    card = describe(folder)
    assert (card.spec.id, card.spec.name) == (name, name)
    assert name in card.provenance


def test_a_directory_that_is_not_there_is_not_said_to_lack_a_file(tmp_path: Path) -> None:
    with pytest.raises(MissingFile, match="weights: no such directory"):
        describe(tmp_path / "weights")
    with pytest.raises(DatasetError, match=r"demos: no such directory; .* `manage\.py demos`"):
        Demonstrations(tmp_path / "demos")
