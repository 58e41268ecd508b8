"""Files of policy folders, ours and published ones: read as what they declare, or a PolicyError that says why not."""

from __future__ import annotations

import json
import resource
import shutil
import struct
from collections.abc import Callable
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import strategies as st

from policies import checkpoints, flax_checkpoint
from policies.base import BadCard, BadTensors, HashMismatch, MissingFile, PolicyCard, PolicyError
from policies.config_sizes import check_sizes
from policies.folder import CARD, SUMS, check_sums, read_json, write_sums
from policies.octo import config as octo_config
from policies.octo.shapes import read_shapes
from policies.openvla import config as openvla_config
from policies.openvla.images import read_transform
from policies.registry import describe
from policies.statistics import choose, mask, vector
from policies.text import read_tokenizer
from policies.transforms import measure, read_statistics
from tests.fuzz.damage import NESTED, anything, damaged, damaged_bytes
from tests.fuzz.effort import fuzz
from tests.policies.tiny_networks import openvla_json, pack_tree, preprocessor_json, word_tokenizer, write_octo

GB = 1 << 30
SHIPPED = sorted(Path("policies/weights").glob("*/policy.json"))
CARDS = [json.loads(path.read_text("utf-8")) for path in SHIPPED]
"""The cards that the arena ships."""


@pytest.fixture(scope="module")
def octo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_octo(tmp_path_factory.mktemp("fuzz") / "octo-tiny")


def read(reader: Callable[..., Any], *arguments: Any) -> Any:
    """What the reader answers, or None where it refuses in its own words."""
    try:
        return reader(*arguments)
    except PolicyError:
        return None


@fuzz("policy folders", 125, data=st.data())
def test_a_spoilt_card_is_a_whole_one_or_refused(data: st.DataObject) -> None:
    card = read(PolicyCard.from_json, data.draw(damaged(data.draw(st.sampled_from(CARDS)))))
    if card is not None:
        assert all(1 <= camera.height <= 4096 and 1 <= camera.width <= 4096 for camera in card.spec.cameras)
        assert PolicyCard.from_json(json.loads(json.dumps(card.to_json()))).spec == card.spec
        card.spec.id.encode()


@fuzz("policy folders", 75, content=st.one_of(damaged_bytes(json.dumps(CARDS[0]).encode()), st.binary(max_size=50)))
def test_a_spoilt_card_file_is_read_or_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / CARD).write_bytes(content)
    read(describe, tmp_path)


@fuzz("policy folders", 75, data=st.data())
def test_spoilt_statistics_are_finite_numbers_or_refused(data: st.DataObject) -> None:
    good = measure("widowx", np.ones((9, 7)), np.ones((9, 8)), np.ones((9, 3)))
    content = data.draw(st.one_of(damaged(good), damaged(next(iter(good.values())))))
    if isinstance(content, dict):
        found = read(read_statistics, content, "arena_widowx")
        assert found is None or np.isfinite(found.action_scale).all()
    chosen = read(choose, content, data.draw(st.sampled_from([None, "arena_widowx", "x"])), "bridge")
    if chosen is not None:
        numbers = read(vector, chosen[1], "q01", 7)
        assert numbers is None or np.isfinite(numbers).all()
        flags = read(mask, chosen[1], 7)
        assert flags is None or flags.shape == (7,)


SUMS_LINES = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.builds("{}  {}".format, st.text("0123456789abcdef", max_size=64), st.text(max_size=300)),
        st.sampled_from(
            ["0" * 64 + "  ../../etc/passwd", "0" * 64 + "  /dev/zero", "x  " + "n" * 5000, "a  .", "b  a\0b"]
        ),
    ),
    max_size=5,
)


@fuzz("policy folders", 75, lines=SUMS_LINES, data=st.data())
def test_spoilt_sums_are_kept_to_or_refused(tmp_path: Path, lines: list[str], data: st.DataObject) -> None:
    (tmp_path / CARD).write_text("{}")
    (tmp_path / SUMS).unlink(missing_ok=True)
    write_sums(tmp_path)
    whole = (tmp_path / SUMS).read_bytes()
    content = data.draw(st.one_of(damaged_bytes(whole), st.just("\n".join(lines).encode("utf-8", "replace"))))
    (tmp_path / SUMS).write_bytes(content)
    try:
        check_sums(tmp_path, (CARD,))
    except PolicyError:
        return
    assert whole.split()[0] in content


# ---- safetensors ---------------------------------------------------------------------------------------------------

HEADER: dict[str, Any] = {
    "__metadata__": {"format": "pt"},
    "a.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
    "b": {"dtype": "BF16", "shape": [4], "data_offsets": [24, 32]},
}
BODY = b"\x00" * 32


def safetensors(header: Any, body: bytes = BODY) -> bytes:
    raw = json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + body


def read_all(path: Path) -> None:
    """Headers, then every tensor that they promise."""
    found = read(checkpoints.read_safetensors_header, path)
    for name, stored in (found or {}).items():
        tensor = read(checkpoints.read, name, stored)
        assert tensor is None or tuple(tensor.shape) == stored.shape


@fuzz("policy folders", 125, header=damaged(HEADER))
def test_a_spoilt_header_of_safetensors_is_read_or_refused(tmp_path: Path, header: Any) -> None:
    (tmp_path / "model.safetensors").write_bytes(safetensors(header))
    read_all(tmp_path / "model.safetensors")


@fuzz("policy folders", 75, content=damaged_bytes(safetensors(HEADER)))
def test_a_spoilt_safetensors_file_is_read_or_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    read_all(tmp_path / "model.safetensors")


@fuzz("policy folders", 60, index=damaged({"weight_map": {"a.weight": "one.safetensors", "b": "one.safetensors"}}))
def test_a_spoilt_index_of_shards_is_kept_to_or_refused(tmp_path: Path, index: Any) -> None:
    (tmp_path / "one.safetensors").write_bytes(safetensors(HEADER))
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    read(checkpoints.find_safetensors, tmp_path)


HUGE = 10 * GB
CLAIMS: list[tuple[str, bytes]] = [
    ("a header of 10 GB", struct.pack("<Q", HUGE) + b"{}"),
    ("a tensor of 10 GB", safetensors({"a": {"dtype": "F32", "shape": [HUGE // 4], "data_offsets": [0, HUGE]}})),
    ("a tensor before the file", safetensors({"a": {"dtype": "F32", "shape": [2], "data_offsets": [-80, -72]}})),
    ("infinite lengths", safetensors({"a": {"dtype": "F32", "shape": [float("inf")], "data_offsets": [0, 8]}})),
    ("negative lengths", safetensors({"a": {"dtype": "F32", "shape": [-2, -4], "data_offsets": [0, 32]}})),
    ("thousands of dimensions", safetensors({"a": {"dtype": "F32", "shape": [2**63] * 999, "data_offsets": [0, 8]}})),
    ("a nameless type", safetensors({"a": {"dtype": ["F32"], "shape": [2], "data_offsets": [0, 8]}})),
    ("a header nested deeply", struct.pack("<Q", 40_000) + b"[" * 40_000),
]


@pytest.mark.parametrize(("claim", "content"), CLAIMS, ids=[claim for claim, _ in CLAIMS])
def test_a_safetensors_file_that_claims_too_much_is_refused(tmp_path: Path, claim: str, content: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BadTensors):
        checkpoints.read_safetensors_header(tmp_path / "model.safetensors")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB


# ---- msgpack -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def packed() -> bytes:
    return bytes(pack_tree({"params.a": np.ones((2, 3), np.float32), "params.b.c": np.zeros(4, np.float32)}))


@fuzz("policy folders", 150, data=st.data())
def test_a_spoilt_flax_checkpoint_is_read_or_refused(tmp_path: Path, packed: bytes, data: st.DataObject) -> None:
    (tmp_path / "checkpoint").write_bytes(data.draw(st.one_of(damaged_bytes(packed), st.binary(max_size=60))))
    found = read(flax_checkpoint.read_header, tmp_path / "checkpoint")
    for name, stored in (found or {}).items():
        read(checkpoints.read, name, stored)


@pytest.mark.parametrize(
    "content",
    [
        b"\x81\xa1a" * 60_000,
        b"\xdd\xff\xff\xff\xff",
        b"\x81\xa1a\xdd\x05\xf5\xe0\xff",
        b"\xdf\xff\xff\xff\xff",
        b"\x81\xa1a\xc9\xff\xff\xff\xff\x01\x93\xdd\x05\xf5\xe0\xff",
        b"\x81" + b"\x91" * 60_000,
        b"\xc1",
    ],
)
def test_a_flax_checkpoint_that_claims_too_much_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "checkpoint").write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BadTensors):
        flax_checkpoint.read_header(tmp_path / "checkpoint")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


@fuzz("policy folders", 75, data=st.data())
def test_a_spoilt_example_batch_is_read_or_refused(tmp_path: Path, octo: Path, data: st.DataObject) -> None:
    good = (octo / "example_batch.msgpack").read_bytes()
    values = st.one_of(damaged_bytes(good), st.binary(max_size=60), anything.map(packed_or_empty))
    (tmp_path / "example_batch.msgpack").write_bytes(data.draw(values))
    shapes = read(read_shapes, tmp_path, {})
    assert shapes is None or all(1 <= side <= 4096 for size in shapes.images.values() for side in size)


def packed_or_empty(value: Any) -> bytes:
    try:
        return bytes(msgpack.packb({"observation": value}))
    except (ValueError, OverflowError, UnicodeEncodeError):
        return b""


# ---- published layouts ---------------------------------------------------------------------------------------------


@fuzz("policy folders", 75, data=st.data())
def test_a_spoilt_octo_folder_is_described_or_refused(tmp_path: Path, octo: Path, data: st.DataObject) -> None:
    config = data.draw(damaged(read_json(octo, "config.json")))
    (tmp_path / "config.json").write_text(json.dumps(config))
    for name in ("example_batch.msgpack", "dataset_statistics.json"):
        shutil.copy(octo / name, tmp_path / name)
    read(describe, tmp_path)
    if isinstance(config, dict) and (shapes := read(read_shapes, tmp_path, config)):
        network = read(octo_config.read_config, config, shapes)
        assert network is None or network.layers <= 1000


@fuzz("policy folders", 75, config=damaged(openvla_json()), pictures=damaged(preprocessor_json()))
def test_a_spoilt_openvla_folder_is_described_or_refused(tmp_path: Path, config: Any, pictures: Any) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(pictures))
    read(describe, tmp_path)
    if isinstance(pictures, dict):
        read(read_transform, pictures)
    if isinstance(config, dict):
        network = read(openvla_config.read_config, config)
        assert network is None or network.language.layers <= 1000


@fuzz("policy folders", 75, data=st.data())
def test_a_spoilt_tokenizer_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    good = json.loads(word_tokenizer().to_str())
    spoilt = damaged(good).map(lambda found: json.dumps(found).encode())
    (tmp_path / "tokenizer.json").write_bytes(data.draw(st.one_of(spoilt, damaged_bytes(json.dumps(good).encode()))))
    tokenizer = read(read_tokenizer, tmp_path / "tokenizer.json", 336)
    if tokenizer is not None:
        assert max(tokenizer.get_vocab().values(), default=0) < 336


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        (CARD, json.dumps(NESTED) * 2, BadCard),
        (CARD, "[" * 60_000, BadCard),
        (CARD, "\ud800", BadCard),
        (CARD, json.dumps({**CARDS[0], "cameras": [{"name": "a", "height": 10**6, "width": 10**6}]}), BadCard),
        (CARD, json.dumps({**CARDS[0], "rate_hz": 1e999}), BadCard),
        (CARD, json.dumps({**CARDS[0], "name": "\ud800"}), BadCard),
        (CARD, json.dumps({**CARDS[0], "network": 3}), BadCard),
        ("config.json", json.dumps({"model_type": "openvla"}), MissingFile),
    ],
)
def test_a_card_that_promises_nonsense_is_refused(
    tmp_path: Path, name: str, content: str, error: type[PolicyError]
) -> None:
    (tmp_path / name).write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(error):
        describe(tmp_path)


def test_a_folder_in_place_of_a_file_is_a_missing_file(tmp_path: Path) -> None:
    for name in ("config.json", SUMS, "model.safetensors"):
        (tmp_path / name).mkdir()
        with pytest.raises(MissingFile, match=name):
            read_json(tmp_path, name)
    with pytest.raises(MissingFile):
        checkpoints.find_safetensors(tmp_path)


def test_sums_never_lead_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / SUMS).write_text("0" * 64 + "  ../other\n")
    with pytest.raises(HashMismatch, match="not the name of a file in the same folder"):
        check_sums(tmp_path, ())


@pytest.mark.parametrize("value", [{}, {"a": None}, {"a": 1}])
def test_a_dictionary_where_a_size_is_asked_for_is_refused(value: dict[str, Any]) -> None:
    config = make_dataclass("Config", [("width", int | None)])(value)
    with pytest.raises(BadCard, match="width: expected"):
        check_sizes(config, "config.json")
