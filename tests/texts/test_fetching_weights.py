"""Weights for vLLM are fetched once, without pickles, and checked when asked for again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "fetch_language_models.sh"
HF = """#!/bin/bash
echo "$*" >>"$HF_LOG"
while (($#)); do [[ $1 == --local-dir ]] && place=$2; shift; done
mkdir -p "$place/.cache" && echo {} >"$place/config.json"
[[ $HF_WEIGHTS ]] && echo weights >"$place/model.safetensors"
true
"""


@pytest.fixture
def fetch(tmp_path: Path) -> object:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "hf").write_text(HF)
    (tmp_path / "bin" / "hf").chmod(0o755)

    def run(*arguments: str, weights: str = "yes") -> subprocess.CompletedProcess[str]:
        path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "HF_LOG": str(tmp_path / "log"), "HF_WEIGHTS": weights}
        command = [str(SCRIPT), str(tmp_path / "models"), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    return run


def test_weights_are_fetched_once_with_their_sums_and_damage_is_found(fetch, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert fetch("lab/model-7b@abc").returncode == 0
    place = tmp_path / "models" / "model-7b"
    assert (place / "REVISION").read_text().strip() == "abc"
    assert {line.split()[1] for line in (place / "SHA256SUMS").read_text().splitlines()} == {
        "./config.json",
        "./model.safetensors",
    }
    assert "is there" in fetch("lab/model-7b@abc").stdout
    [asked] = (tmp_path / "log").read_text().splitlines()
    assert "--revision abc" in asked
    assert ".bin" not in asked
    (place / "model.safetensors").write_text("damaged")
    assert fetch("lab/model-7b@abc").returncode != 0


def test_a_repository_without_safetensors_leaves_no_model(fetch, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    refused = fetch("lab/pickles", weights="")
    assert refused.returncode == 1
    assert "lab/pickles has no safetensors" in refused.stderr
    assert not (tmp_path / "models" / "pickles").exists()


def test_what_is_no_repository_is_refused_with_what_would_be(fetch) -> None:  # type: ignore[no-untyped-def]
    assert "expected OWNER/NAME" in fetch("mistral").stderr
