"""Reads a dataset with the package lerobot-dataset and prints what it found as JSON: `lerobot_reader.py FOLDER`.

The package asks for torchvision, of which there is no build for the processor's torch 2.13.0 on the package index. It
uses torchvision to turn pictures into tensors, and nothing here has pictures in tables, so that names without a content
stand in for it. Of films it uses torchvision's reader, a shell around PyAV, which is filled here: it yields frames with
their times. Which film, and which frame for which row, is the package's own, as is all else. With films, `pictures.npz`
beside the folder has the first and last picture of every episode, (episodes, 2, height, width, 3) of uint8.
"""

from __future__ import annotations

import importlib.machinery
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def stand_in_for_torchvision() -> None:
    import torch

    names = ("torchvision", "torchvision.transforms", "torchvision.transforms.v2", "torchvision.io")
    modules: dict[str, Any] = {name: types.ModuleType(name) for name in names}
    for name, module in modules.items():
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    top, transforms, v2 = (modules[name] for name in names[:3])
    top.__version__, top.transforms, top.io, transforms.v2 = "0", transforms, modules["torchvision.io"], v2
    transforms.ToTensor = torch.nn.Identity
    v2.Transform, v2.functional = torch.nn.Module, types.ModuleType("functional")
    top.set_video_backend, top.io.VideoReader = lambda name: None, VideoReader
    sys.modules.update(modules)


class VideoReader:
    """As torchvision's with the backend pyav."""

    def __init__(self, path: str, stream: str) -> None:
        import av

        self.container = av.open(path)
        self._stream = self.container.streams.video[0]

    def seek(self, time_s: float, keyframes_only: bool) -> None:
        """To the key frame at or before it."""
        self.container.seek(int(time_s / self._stream.time_base), stream=self._stream)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        import torch

        for frame in self.container.decode(self._stream):
            yield {"data": torch.from_numpy(frame.to_ndarray(format="rgb24")).permute(2, 0, 1), "pts": frame.time}


def main(folder: str) -> None:
    stand_in_for_torchvision()
    from ledataset.datasets.lerobot_dataset import LeRobotDataset

    data = LeRobotDataset("vla-arena/test", root=folder, video_backend="pyav")
    rows = data.hf_dataset.with_format(None)
    found = {
        "version": data.meta.info["codebase_version"],
        "fps": data.fps,
        "episodes": [dict(episode) for episode in data.meta.episodes],
        "tasks": data.meta.tasks["task_index"].to_dict(),
        "video_keys": data.meta.video_keys,
        "stats": {name: as_lists(each) for name, each in data.meta.stats.items()},
        "frames": [dict(rows[number]) for number in range(len(rows))],
        "item": None if data.meta.video_keys else as_lists(data[0]),
    }
    if data.meta.video_keys:
        keep_pictures(data, Path(folder).with_name("pictures.npz"))
    print(json.dumps(found))


def keep_pictures(data: Any, target: Path) -> None:
    import numpy as np

    (key,) = data.meta.video_keys
    ends = [(each["dataset_from_index"], each["dataset_to_index"] - 1) for each in data.meta.episodes]
    shown = [[data[row][key].permute(1, 2, 0).numpy() for row in pair] for pair in ends]
    np.savez(target, shown=np.round(np.array(shown) * 255).astype(np.uint8))


def as_lists(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in values.items()}


if __name__ == "__main__":
    main(sys.argv[1])
