"""What every family's training promises of a run that was stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch


def assert_resuming_changes_nothing(make: Callable[[Path], Any], folder: Path) -> None:
    """Six steps in one go, and six with a crash after the save of the third: the same losses and the same weights.

    `make` answers a trainer of a plan of six steps for a folder.
    """
    whole = make(folder / "whole")
    expected = [whole.step() for _ in range(6)]
    first = make(folder / "run")
    found = [first.step() for _ in range(3)]
    first.save()
    first.step()  # lost in the crash
    second = make(folder / "run")
    second.resume()
    found += [second.step() for _ in range(3)]
    assert found == expected
    for name, value in whole.ema.items():
        assert torch.equal(value, second.ema[name]), name
