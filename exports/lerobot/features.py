"""The features of a dataset of one world, and the frames of a recording.

A frame is the state before an action, and the action: a recording of n actions has n frames. The state after the last
action is the start of no action, and is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from simulation.episode_format import actions_of
from simulation.worlds import World, load_world

STATE, ENVIRONMENT, ACTION = "observation.state", "observation.environment_state", "action"
VIDEO = "observation.images.overview"
DONE = "next.done"
INDEXES = ("frame_index", "episode_index", "index", "task_index")
Column = NDArray[Any]


@dataclass(frozen=True)
class Layout:
    """What the numbers of one world's frames are."""

    world: World

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Layout:
        variant = (document.get("variation") or {}).get("variant", "")
        return cls(load_world(document["robot_id"], document["scene_id"], variant))

    @cached_property
    def joints(self) -> list[tuple[str, int]]:
        """The name and the place in qpos of each joint of the robot, in the model's order [rad or m]."""
        model, prefix = self.world.model, self.world.robot.PREFIX
        names = [(model.joint(number).name, int(model.jnt_qposadr[number])) for number in range(model.njnt)]
        return [(name.removeprefix(prefix), place) for name, place in names if name.startswith(prefix)]

    @cached_property
    def state_names(self) -> list[str]:
        """What each number of qpos and then of qvel is: joint, and which of its numbers."""
        model = self.world.model
        found = []
        for kind, address, size in (("qpos", model.jnt_qposadr, model.nq), ("qvel", model.jnt_dofadr, model.nv)):
            ends = [*address[1:].tolist(), size]
            for joint, (first, end) in enumerate(zip(address.tolist(), ends, strict=True)):
                name = model.joint(joint).name
                found += [f"{kind}:{name}" if end - first == 1 else f"{kind}:{name}:{n}" for n in range(end - first)]
        return found

    def features(self, video: tuple[int, int] | None) -> dict[str, Any]:
        """As `meta/info.json` has them. `video`: width and height of the drawn frames; None: there are none."""
        action = self.world.robot.ACTION
        found = {
            STATE: _vector([name for name, _ in self.joints]),
            ENVIRONMENT: _vector(self.state_names),
            ACTION: _vector(list(action.names)),
            DONE: {"dtype": "bool", "shape": [1], "names": None},
            "timestamp": {"dtype": "float32", "shape": [1], "names": None},
            **{name: {"dtype": "int64", "shape": [1], "names": None} for name in INDEXES},
        }
        return found if video is None else {VIDEO: _film(video, self.world.control_hz), **found}

    def frames(self, document: Mapping[str, Any]) -> dict[str, Column]:
        """(steps, ...) of each feature that a recording alone determines."""
        actions = actions_of(document)
        steps = len(actions)
        before = document["states"][:steps]
        qpos = np.array([state["qpos"] for state in before], dtype=np.float64).reshape(steps, self.world.model.nq)
        qvel = np.array([state["qvel"] for state in before], dtype=np.float64).reshape(steps, self.world.model.nv)
        return {
            STATE: qpos[:, [place for _, place in self.joints]].astype(np.float32),
            ENVIRONMENT: np.hstack([qpos, qvel]).astype(np.float32),
            ACTION: actions.astype(np.float32),
            DONE: np.arange(steps) == steps - 1,
            "timestamp": (np.arange(steps) / self.world.control_hz).astype(np.float32),
            "frame_index": np.arange(steps, dtype=np.int64),
        }

    def positions(self, document: Mapping[str, Any]) -> Column:
        """(steps, nq) of the frames, for drawing them."""
        return np.array([state["qpos"] for state in document["states"][:-1]], dtype=np.float64)


def schema_of(features: Mapping[str, Any]) -> pa.Schema:
    """Of the files in `data/`: all features but the videos."""
    return pa.schema([(name, _type_of(each)) for name, each in features.items() if each["dtype"] != "video"])


def table_of(columns: Mapping[str, Column], schema: pa.Schema) -> pa.Table:
    arrays = []
    for field in schema:
        column = columns[field.name]
        if column.ndim == 2:
            flat = pa.array(np.ascontiguousarray(column).reshape(-1), field.type.value_type)
            arrays.append(pa.FixedSizeListArray.from_arrays(flat, column.shape[1]))
        else:
            arrays.append(pa.array(column, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def _vector(names: list[str]) -> dict[str, Any]:
    return {"dtype": "float32", "shape": [len(names)], "names": names}


def _film(size: tuple[int, int], fps: int) -> dict[str, Any]:
    width, height = size
    about = {
        "video.height": height,
        "video.width": width,
        "video.codec": "h264",
        "video.pix_fmt": "yuv420p",
        "video.is_depth_map": False,
        "video.fps": fps,
        "video.channels": 3,
        "has_audio": False,
    }
    return {"dtype": "video", "shape": [height, width, 3], "names": ["height", "width", "channels"], "info": about}


def _type_of(feature: Mapping[str, Any]) -> pa.DataType:
    one = {"float32": pa.float32(), "int64": pa.int64(), "bool": pa.bool_()}[feature["dtype"]]
    return one if feature["shape"] == [1] else pa.list_(one, feature["shape"][0])
