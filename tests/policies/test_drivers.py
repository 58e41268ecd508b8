"""`manage.py demos --driver`: a policy's folder drives parts of demonstrations, if it sees what they hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from policies.base import WrongEmbodiment
from robots.drivers import PolicyDriver

SEED = 1_900_000


def test_a_folder_drives_and_the_data_set_tells_which(picture_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "set"
    call_command("demos", out=out, seed=SEED, episodes=1, workers=1, driver=picture_folder, driven=1.0, verbosity=0)
    revision = json.loads((picture_folder / "policy.json").read_text("utf-8"))["revision"]
    assert (
        json.loads((out / "dataset.json").read_text("utf-8"))["driver"] == f"film-wide {revision} drives in 1 of them"
    )


def test_a_policy_that_sees_other_pictures_cannot_drive(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(WrongEmbodiment, match="a driver sees the camera workspace alone"):
        PolicyDriver.of(folder, 0.5)
    with pytest.raises(CommandError, match="a driver sees the camera workspace alone"):
        call_command("demos", out=tmp_path / "set", episodes=1, driver=folder)
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize("share", [0.0, 1.5])
def test_a_share_that_is_none_is_refused(tmp_path: Path, share: float) -> None:
    with pytest.raises(CommandError, match="--driven must be over 0 and at most 1"):
        call_command("demos", out=tmp_path / "set", episodes=1, driven=share)
