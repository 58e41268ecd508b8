"""Strategies that take something good and spoil it: a tree of values as JSON holds them, or plain bytes."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

NESTED: Any = 0
for _ in range(60):
    NESTED = [NESTED]
ODD: list[Any] = [
    None,
    True,
    False,
    "",
    "\x00",
    "\ud800",
    "..",
    "../../etc/passwd",
    "nan",
    "1e999",
    "x" * 5000,
    0,
    -1,
    1.5,
    2**31,
    2**63,
    10**30,
    -(10**30),
    float("nan"),
    float("inf"),
    -float("inf"),
    [],
    {},
    [[]],
    {"": None},
    [None] * 3,
    NESTED,
]
leaves = st.one_of(st.sampled_from(ODD), st.integers(), st.floats(), st.text(max_size=20), st.booleans())
anything = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=8,
)


@st.composite
def damaged(draw: st.DrawFn, good: Any) -> Any:
    """`good` with one to three of its parts left out, put twice or replaced by anything; sometimes as it was."""
    found = copy.deepcopy(good)
    for _ in range(draw(st.integers(0, 3))):
        found = _damaged_once(draw, found)
    return found


def _damaged_once(draw: st.DrawFn, node: Any) -> Any:
    if not isinstance(node, dict | list) or not node or draw(st.integers(0, 9)) == 0:
        return copy.deepcopy(draw(anything))  # a later round may spoil it, and ODD is to stay
    place = draw(st.sampled_from(list(node) if isinstance(node, dict) else range(min(len(node), 8))))
    what = draw(st.sampled_from(["inside", "inside", "inside", "leave out", "add"]))
    if what == "inside":
        node[place] = _damaged_once(draw, node[place])
    elif what == "leave out":
        del node[place]
    elif isinstance(node, list):
        node.append(copy.deepcopy(node[place]))
    else:
        node[draw(st.text(max_size=8))] = copy.deepcopy(draw(anything))
    return node


@st.composite
def damaged_bytes(draw: st.DrawFn, good: bytes) -> bytes:
    """`good` with bytes changed, cut out, doubled or put in, up to four times."""
    found = bytearray(good)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, max(0, len(found) - 1)))
        length = draw(st.sampled_from([1, 1, 2, 4, 8, 64, len(found)]))
        what = draw(st.sampled_from(["change", "cut", "double", "put in", "fill"]))
        if what == "change" and found:
            found[at] = draw(st.integers(0, 255))
        elif what == "cut":
            del found[at : at + length]
        elif what == "double":
            found[at:at] = found[at : at + length]
        elif what == "put in":
            found[at:at] = draw(st.binary(max_size=16))
        else:
            found[at : at + min(length, 8)] = draw(st.sampled_from([b"\xff", b"\x00"])) * min(length, 8)
    return bytes(found)
