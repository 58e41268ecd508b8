"""Messages with arrays in JSON, as json-numpy codes them: {"__numpy__": base64, "dtype": "|u1", "shape": [...]}.

The package itself hands any type of numpy on to what it reads; here nothing but numbers is read.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from policies.remote.codec import array_of, dtype_of
from policies.remote.errors import BadFrame

ARRAY = "__numpy__"


def pack(message: Mapping[str, Any]) -> bytes:
    """UTF-8. Raises ValueError for other types than JSON's and arrays."""
    return json.dumps(message, default=_coded, allow_nan=False).encode()


def unpack(frame: bytes | str) -> Any:
    """Maps, lists, texts, numbers and arrays; the arrays are read-only. Raises BadFrame."""
    try:
        return json.loads(frame, object_hook=_array_of, parse_constant=_no_number)
    except BadFrame:
        raise
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"the answer is no JSON: {type(error).__name__}") from None


def numbers_of(answer: Any) -> NDArray[np.generic]:
    """The array of an answer: an array, a list of numbers, or a list of either. Raises BadFrame."""
    if isinstance(answer, np.ndarray):
        return answer
    if not isinstance(answer, list):
        raise BadFrame(f"the actions are of type {type(answer).__name__}; expected an array of numbers")
    rows = [_row(each) for each in answer] if answer and isinstance(answer[0], list | np.ndarray) else _row(answer)
    try:
        return np.asarray(rows, np.float64)
    except ValueError:
        raise BadFrame("the rows of the actions differ in length") from None


def _row(numbers: Any) -> NDArray[np.float64]:
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind in "fiu":
        return numbers.astype(np.float64)
    if not isinstance(numbers, list) or not all(type(each) in (int, float) for each in numbers):
        raise BadFrame("the actions are no numbers; expected an array or a list of numbers")
    try:
        return np.array(numbers, np.float64)
    except OverflowError:
        raise BadFrame("the actions hold numbers that are no metres and radians") from None


def _coded(value: Any) -> dict[str, Any]:
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub":
        raise ValueError(f"a message holds no {getattr(value, 'dtype', type(value).__name__)}")
    return {ARRAY: base64.b64encode(value.tobytes()).decode(), "dtype": value.dtype.str, "shape": list(value.shape)}


def _array_of(found: dict[str, Any]) -> Any:
    if ARRAY not in found:
        return found
    data = found[ARRAY]
    if not isinstance(data, str):
        raise BadFrame(f"an array has no text in {ARRAY}; expected base64")
    try:
        plain = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise BadFrame("the numbers of an array are no base64") from None
    return array_of(plain, found.get("shape"), dtype_of(found.get("dtype")))


def _no_number(name: str) -> NoReturn:
    raise BadFrame(f"the answer holds {name}, which is no number")
