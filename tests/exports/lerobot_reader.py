"""Reads a dataset with the package lerobot-dataset and prints what it found as JSON: `lerobot_reader.py FOLDER`.

The package asks for torchvision, of which there is no build for the processor's torch 2.13.0 on the package index. It
uses torchvision to turn pictures into tensors, and nothing here has pictures in tables, so that names without a content
stand in for it. All else is the package's own.
"""

from __future__ import annotations

import importlib.machinery
import json
import sys
import types
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
    sys.modules.update(modules)


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
    print(json.dumps(found))


def as_lists(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in values.items()}


if __name__ == "__main__":
    main(sys.argv[1])
