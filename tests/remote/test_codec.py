"""Messages with arrays: both codings are read, openpi's own package agrees, and nothing but data comes through."""

from __future__ import annotations

import pickle
from typing import Any

import msgpack
import numpy as np
import pytest

from policies.remote import codec
from policies.remote.errors import BadFrame

ARRAYS = [
    np.arange(12, dtype=np.float32).reshape(3, 4),
    np.zeros((2, 3, 3), np.uint8),
    np.array([], np.float64),
    np.array(1.5),
    np.array([True, False]),
    np.arange(4, dtype=">f8"),
    np.arange(3, dtype=np.int64),
    np.float32(2.5),
    np.int16(-3),
]


def coded(**parts: Any) -> bytes:
    usual = {b"__ndarray__": True, b"data": b"\0" * 8, b"dtype": "<f4", b"shape": [2]}
    packed: bytes = msgpack.packb(usual | {name.encode(): value for name, value in parts.items()})
    return packed


@pytest.mark.parametrize("text_keys", [False, True])
@pytest.mark.parametrize("array", ARRAYS, ids=lambda each: f"{each.dtype}{each.shape}")
def test_an_array_survives_in_both_codings(array: Any, text_keys: bool) -> None:
    back = codec.unpack(codec.pack({"nested": [{"it": array}]}, text_keys=text_keys))["nested"][0]["it"]
    assert back.dtype.newbyteorder("=") == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("array", ARRAYS, ids=lambda each: f"{each.dtype}{each.shape}")
def test_openpi_reads_ours_and_we_read_openpis(array: Any) -> None:
    from openpi_client import msgpack_numpy

    np.testing.assert_array_equal(msgpack_numpy.unpackb(codec.pack(array)), array)
    np.testing.assert_array_equal(codec.unpack(msgpack_numpy.packb(array)), array)


def test_the_coding_of_the_evaluation_harness_has_text_keys_and_long_names() -> None:
    plain = msgpack.unpackb(codec.pack(np.zeros(2, np.float32), text_keys=True))
    assert plain == {"__ndarray__": True, "data": b"\0" * 8, "dtype": "float32", "shape": [2]}


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (b"", "no msgpack"),
        (b"\xc1", "no msgpack"),
        (b"\x93\x01", "no msgpack"),
        (msgpack.packb(1) + b"\x01", "no msgpack"),
        (b"\x91" * 5000 + b"\x01", "no msgpack"),
        (msgpack.packb(b"x") + b"", None),
        (msgpack.packb(msgpack.ExtType(5, b"x")), "extension"),
        (pickle.dumps({"actions": 1}), "no msgpack"),
        (coded(dtype="O"), "no type that is read"),
        (coded(dtype="V8"), "no type that is read"),
        (coded(dtype="<c8"), "no type that is read"),
        (coded(dtype="f4,f4"), "no type that is read"),
        (coded(dtype="<U2"), "no type that is read"),
        (coded(dtype=7), "no type that is read"),
        (coded(shape=[3]), r"\[3\] float32 has 8 bytes"),
        (coded(shape=[-1, -2]), "whole numbers"),
        (coded(shape=[True, 2]), "whole numbers"),
        (coded(shape=[2**62, 2**62]), "has 8 bytes"),
        (coded(shape=[1] * 40), "lacks data or shape"),
        (coded(shape="2"), "lacks data or shape"),
        (coded(data="text"), "lacks data or shape"),
        (msgpack.packb({b"__npgeneric__": True, b"data": "x", b"dtype": "<f4"}), "no number"),
        (msgpack.packb({b"__npgeneric__": True, b"data": 300, b"dtype": "|u1"}), "does not fit"),
        (msgpack.packb({b"__ndarray__": True}), "no type that is read"),
    ],
    ids=str,
)
def test_what_is_no_data_is_refused(frame: bytes, said: str | None) -> None:
    if said is None:
        assert codec.unpack(frame) == b"x"
        return
    with pytest.raises(BadFrame, match=said):
        codec.unpack(frame)


@pytest.mark.parametrize(
    "value", [np.array([object()]), np.array([1j]), object(), {1, 2}], ids=["O", "c", "object", "set"]
)
def test_what_is_no_data_is_not_sent(value: Any) -> None:
    with pytest.raises(ValueError, match="a message holds no"):
        codec.pack({"it": value})
