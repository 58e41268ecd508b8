"""Offering a policy of this machine to others: openpi's dialect, with RoboArena's `endpoint` where a client uses it.

The metadata hold the arena's contract (policies.remote.metadata), so that another arena needs the address alone.
"""

from __future__ import annotations

import hmac
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

from policies.base import PolicyCard, PolicySpec
from policies.remote import codec
from policies.remote.contract import OPENPI, Contract
from policies.remote.errors import BadFrame
from policies.remote.metadata import COMPARED, DECLARED, RESET
from simulation.contracts import PROPRIOCEPTION_DIM, Actor, ArraySpec, Observation, SimulationError

log = logging.getLogger(__name__)
MOST_BYTES = 16 << 20  # of an observation
IDLE_S = 600.0
BUSY = "as many clients as it takes are connected"
HEALTH = "/healthz"
STATE = ArraySpec("state", (PROPRIOCEPTION_DIM,), "float32", "m, rad, opening 0..1")
TOLD = ("name", "description", "organization", "license", "provenance", "cameras", "execute", "ensembling", *COMPARED)


@dataclass(frozen=True)
class Offer:
    """What is served: to how many clients at once, and for which key, "" for none.

    `lease` opens the policy for one client.
    """

    card: PolicyCard
    lease: Callable[[], Actor]
    clients: int = 4
    key: str = ""
    contract: Contract = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "contract", Contract.of(self.card.spec, {"url": "ws://here"}))


def metadata_of(card: PolicyCard) -> dict[str, Any]:
    """What a client gets first."""
    told = card.to_json() | {"proprioception": card.spec.proprioception}
    return {DECLARED: {name: told[name] for name in TOLD} | {"dialect": OPENPI, RESET: True}, "needs_session_id": False}


def start(offer: Offer, host: str, port: int) -> Server:
    """A server that is bound and does not serve yet: `serve_forever` does, until `shutdown`. Raises OSError."""
    places = threading.Semaphore(offer.clients)

    def handle(connection: ServerConnection) -> None:
        if not places.acquire(blocking=False):
            connection.close(CloseCode.TRY_AGAIN_LATER, BUSY)
            return
        try:
            _Client(offer, connection).serve()
        except ConnectionClosed:
            pass
        finally:
            places.release()

    return serve(
        handle,
        host,
        port,
        compression=None,
        max_size=MOST_BYTES,
        process_request=lambda connection, request: _answer_to(offer, connection, request),
        server_header=None,
    )


def _answer_to(offer: Offer, connection: ServerConnection, request: Request) -> Response | None:
    """Of a request that is no websocket, or has not the key; None lets the handshake go on."""
    if request.path == HEALTH:
        return connection.respond(HTTPStatus.OK, "OK\n")
    told = request.headers.get("Authorization", "")
    if offer.key and not hmac.compare_digest(told.encode(), f"Api-Key {offer.key}".encode()):
        return connection.respond(HTTPStatus.UNAUTHORIZED, "Expected the header Authorization: Api-Key ...\n")
    return None


class _Client:
    """One connection and its episodes. `begun`: the instruction and session of the present one."""

    def __init__(self, offer: Offer, connection: ServerConnection) -> None:
        self.offer, self.connection = offer, connection
        self.begun: tuple[str, Any] | None = None
        self.seed, self.step = 0, 0

    @property
    def spec(self) -> PolicySpec:
        return self.offer.card.spec

    def serve(self) -> None:
        """Until the client leaves, is silent for long, or something fails."""
        policy = self.offer.lease()
        try:
            self.connection.send(codec.pack(metadata_of(self.offer.card)))
            while True:
                self.connection.send(self._reply(policy, self.connection.recv(timeout=IDLE_S)))
        except TimeoutError:
            self.connection.close(CloseCode.NORMAL_CLOSURE, "silent for too long")
        except (BadFrame, SimulationError) as error:
            self._fail(str(error))
        except ConnectionClosed:
            raise
        except Exception as error:  # the edge of the connection: other clients are served on
            log.exception("%s failed", self.spec.id)
            self._fail(f"the policy failed: {type(error).__name__}")
        finally:
            policy.close()

    def _fail(self, why: str) -> None:
        """As openpi's server does: a text, then the end."""
        self.connection.send(f"Error: {why}")
        self.connection.close(CloseCode.INTERNAL_ERROR, "see the text before")

    def _reply(self, policy: Actor, came: bytes | str) -> bytes | str:
        message = codec.unpack(came) if isinstance(came, bytes) else None
        if not isinstance(message, dict):
            raise BadFrame("expected a map in msgpack, such as {'observation/image': ..., 'prompt': ...}")
        endpoint = message.get("endpoint", "infer")
        if endpoint == "reset":
            self._note_reset(message)
            return "reset successful"
        if endpoint != "infer":
            raise BadFrame(f"endpoint: expected 'infer' or 'reset', got {endpoint!r}")
        began = time.perf_counter()
        actions = self._infer(policy, message)
        if "endpoint" in message:
            return codec.pack(actions)
        return codec.pack({"actions": actions, "server_timing": {"infer_ms": (time.perf_counter() - began) * 1e3}})

    def _note_reset(self, message: Mapping[str, Any]) -> None:
        seed = message.get("seed", 0)
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise BadFrame(f"seed: expected a whole number from 0, got {seed!r}")
        self.begun, self.seed = None, seed

    def _infer(self, policy: Actor, message: Mapping[str, Any]) -> Any:
        observation = self._observation(message)
        now = (observation.instruction, message.get("session_id"))
        if self.begun != now:
            policy.reset(observation.instruction, self.seed)
            self.begun, self.seed, self.step = now, 0, 0
        actions = policy.infer(observation)
        self.step += self.spec.chunking.execute
        return actions

    def _observation(self, message: Mapping[str, Any]) -> Observation:
        """Raises BadFrame and SpecError, which say what is expected."""
        prompt = message.get("prompt")
        if not isinstance(prompt, str):
            raise BadFrame(f"prompt: expected a text, got {type(prompt).__name__}")
        images = {}
        for camera in self.spec.cameras:
            image = _part(message, self.offer.contract.images[camera.name].key)
            camera.array_spec().check(image)
            images[camera.name] = image.copy()  # networks may write into what they are given
        felt = np.zeros(PROPRIOCEPTION_DIM, np.float32)
        for key in self.offer.contract.state:
            told = _part(message, key)
            if not isinstance(told, np.ndarray) or told.dtype.kind != "f":
                raise BadFrame(f"{key}: expected float32[{PROPRIOCEPTION_DIM}], got {type(told).__name__}")
            felt = told.astype(np.float32)
            STATE.check(felt)
        return Observation(images, felt, prompt, self.step)


def _part(message: Mapping[str, Any], key: str) -> Any:
    if key not in message:
        raise BadFrame(f"{key!r} is missing; it came with: {', '.join(sorted(map(str, message)))}")
    return message[key]
