"""A policy folder opens whole or not at all, and the refusal names what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from policies.base import BadCard, BadTensors, HashMismatch, MissingFile, MissingStatistics, PolicyError, UnknownFamily
from policies.folder import CARD, STATISTICS, SUMS, TOKENIZER, WEIGHTS, write_sums
from policies.registry import describe, families, open_policy

Tensors = dict[str, Tensor]


def change_card(folder: Path, **values: object) -> None:
    card = json.loads((folder / CARD).read_text("utf-8"))
    (folder / CARD).write_text(json.dumps(card | values), "utf-8")
    write_sums(folder)


def change_weights(folder: Path, change: Callable[[Tensors], object]) -> None:
    tensors = load_file(folder / WEIGHTS)
    change(tensors)
    save_file(tensors, folder / WEIGHTS)
    write_sums(folder)


def test_a_whole_folder_opens_and_its_card_reads_back_the_same(folder: Path) -> None:
    policy = open_policy(folder)
    card = describe(folder)
    assert policy.spec == card.spec
    assert card.to_json() == json.loads((folder / CARD).read_text("utf-8"))
    assert card.provenance == "FiLM architecture, trained by VLA Arena on 12 scripted demonstrations in simulation"


def test_an_unknown_family_lists_the_known_ones(folder: Path) -> None:
    change_card(folder, family="octopus")
    with pytest.raises(UnknownFamily, match=f"octopus.*known: .*{min(families)}"):
        open_policy(folder)


@pytest.mark.parametrize("name", [CARD, WEIGHTS, STATISTICS, TOKENIZER, SUMS])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(MissingFile, match=name):
        open_policy(folder)


@pytest.mark.parametrize("name", [CARD, WEIGHTS, STATISTICS, TOKENIZER])
def test_a_file_that_is_not_the_shipped_one_is_named(folder: Path, name: str) -> None:
    with (folder / name).open("ab") as stream:
        stream.write(b" ")
    with pytest.raises(HashMismatch, match=name):
        open_policy(folder)


@pytest.mark.parametrize("name", [WEIGHTS, STATISTICS, TOKENIZER])
def test_a_file_that_the_sums_do_not_list_is_refused(folder: Path, name: str) -> None:
    lines = [line for line in (folder / SUMS).read_text("utf-8").splitlines() if not line.endswith(name)]
    (folder / SUMS).write_text("\n".join(lines) + "\n", "utf-8")
    with pytest.raises(HashMismatch, match=f"{name} is not listed"):
        open_policy(folder)


def test_truncated_weights_are_refused_even_with_a_fitting_hash(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-100])
    write_sums(folder)
    with pytest.raises(BadTensors, match=WEIGHTS):
        open_policy(folder)


def test_a_missing_tensor_is_named(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors.pop("maps.bias"))
    with pytest.raises(BadTensors, match=r"maps\.bias .* is missing"):
        open_policy(folder)


def test_a_misshapen_tensor_is_named_with_the_shape_it_should_have(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors.update({"maps.bias": torch.zeros(3)}))
    with pytest.raises(BadTensors, match=r"maps\.bias is \[3\], expected \[28\]"):
        open_policy(folder)


def test_a_tensor_too_many_is_named(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors.update({"stowaway": torch.zeros(3)}))
    with pytest.raises(BadTensors, match="stowaway"):
        open_policy(folder)


def test_weights_that_are_not_numbers_are_refused_by_name(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors["maps.bias"].fill_(float("nan")))
    with pytest.raises(BadTensors, match=r"maps\.bias .*not finite"):
        open_policy(folder)


def test_a_missing_statistics_key_lists_the_keys_there_are(folder: Path) -> None:
    change_card(folder, statistics_key="bridge_orig")
    with pytest.raises(MissingStatistics, match=r"bridge_orig.*known: arena_widowx"):
        open_policy(folder)


def test_statistics_of_the_wrong_length_are_refused(folder: Path) -> None:
    data = json.loads((folder / STATISTICS).read_text("utf-8"))
    data["arena_widowx"]["action"]["scale"].pop()
    (folder / STATISTICS).write_text(json.dumps(data), "utf-8")
    write_sums(folder)
    with pytest.raises(MissingStatistics, match=r"action\.scale must be 6"):
        open_policy(folder)


def test_a_card_without_a_field_names_it(folder: Path) -> None:
    card = json.loads((folder / CARD).read_text("utf-8"))
    del card["execute"]
    (folder / CARD).write_text(json.dumps(card), "utf-8")
    with pytest.raises(BadCard, match="execute"):
        describe(folder)


def test_a_vocabulary_that_does_not_fit_the_tokenizer_is_refused(folder: Path) -> None:
    (folder / TOKENIZER).write_text('{"kind": "words", "words": ["cube"]}', "utf-8")
    write_sums(folder)
    with pytest.raises(BadCard, match="vocabulary"):
        open_policy(folder)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"kind": "bpe"}'])
def test_a_broken_tokenizer_is_refused(folder: Path, text: str) -> None:
    (folder / TOKENIZER).write_text(text, "utf-8")
    write_sums(folder)
    with pytest.raises(PolicyError, match=TOKENIZER):
        open_policy(folder)
