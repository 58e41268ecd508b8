"""A model server of vla-evaluation-harness on loopback, by its published wire: hello, episodes, numbered answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

Predict = Callable[[Mapping[str, Any]], Any]
STILL = np.array([0, 0, 0, 0, 0, 0, 1.0], np.float32)
DELTAS = {
    "position": {"name": "position", "dims": 3, "format": "delta_xyz", "range": [-1, 1]},
    "rotation": {"name": "rotation", "dims": 3, "format": "axis_angle", "range": [-3.15, 3.15]},
    "gripper": {"name": "gripper", "dims": 1, "format": "binary_close_positive", "range": [-1, 1]},
}
"""What its server of OpenVLA declares."""


class HarnessServer:
    """`predict`: the payload of an action from that of an observation. `seen`: kind, number and payload of what came.

    `reply`: makes the message from its kind, number and payload.
    """

    def __init__(self, predict: Predict | None = None, spec: Any = DELTAS, **hello: Any) -> None:
        self.predict = predict or (lambda observation: {"actions": STILL})
        self.hello = {"harness_version": "0.4.0", "protocol_version": 1, "model_server": "Test", "capabilities": {}}
        self.hello |= ({"action_spec": spec} if spec is not None else {}) | hello
        self.seen: list[tuple[str, int, Any]] = []
        self.reply: Callable[[str, int, Any], Any] = message
        self.fails_episodes = False
        self._server = serve(self._handle, "127.0.0.1", 0, compression=None, max_size=None)
        self.url = f"ws://127.0.0.1:{self._server.socket.getsockname()[1]}"

    def _handle(self, connection: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            for came in connection:
                read = msgpack.unpackb(came, object_hook=decoded)
                kind, number, payload = read["type"], read["seq"], read["payload"]
                self.seen.append((kind, number, payload))
                if kind == "hello":
                    connection.send(self.reply("hello", number, self.hello))
                elif kind == "episode_start" and self.fails_episodes:
                    connection.send(message("error", number, {"error": "episode_start_failed: gpu-secret"}))
                elif kind == "observation":
                    connection.send(self.reply("action", number, self.predict(payload)))

    def serve_forever(self) -> None:
        self._server.serve_forever()

    def shutdown(self) -> None:
        self._server.shutdown()


def message(kind: str, number: int, payload: Any) -> bytes:
    told = {"type": kind, "payload": payload, "seq": number, "timestamp": 0.0}
    return bytes(msgpack.packb(told, default=coded, use_bin_type=True))


def coded(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"__ndarray__": True, "data": value.tobytes(), "dtype": value.dtype.str, "shape": list(value.shape)}
    return value.item()


def decoded(found: dict[str, Any]) -> dict[str, Any] | NDArray[Any]:
    if "__ndarray__" not in found:
        return found
    return np.frombuffer(found["data"], np.dtype(found["dtype"])).reshape(found["shape"])
