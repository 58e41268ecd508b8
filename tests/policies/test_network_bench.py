"""What `make bench` says of networks: bytes that an action reads, goals beside figures, and why one is left out."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from policies.bench import measure
from policies.bench_lines import lines, shipped
from policies.bench_subjects import NoRoom, octo_bytes, openvla_bytes, published
from tests.policies.tiny_networks import tiny_octo, tiny_openvla, write_octo, write_openvla

UNREAD = ("embed_tokens", "featurizer.blocks.3", "fused_featurizer.blocks.2", "pos_embed", "_token", "featurizer.norm",
          "attn_pool")  # fmt: skip


def test_an_action_of_openvla_reads_its_language_model_seven_times_and_the_rest_once() -> None:
    network = tiny_openvla()
    expected = sum(
        4 * tensor.numel() * (7 if name.startswith("language_model") else 1)
        for name, tensor in network.state_dict().items()
        if not any(part in name for part in UNREAD)
    )
    assert openvla_bytes(network) == expected


def test_an_action_of_octo_reads_its_head_twenty_times_and_its_text_encoder_never() -> None:
    network = tiny_octo()
    expected = sum(
        4 * tensor.numel() * (20 if name.startswith("heads_action") else 1)
        for name, tensor in network.state_dict().items()
        if "task_tokenizers" not in name
    )
    assert octo_bytes(network) == expected


def test_what_does_not_fit_into_memory_is_said_and_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=20e9))
    with pytest.raises(NoRoom, match=r"the weights need 34\.7 GB in float32; 20\.0 GB are free"):
        published("openvla-7b", None)


@pytest.mark.parametrize("write", [write_octo, write_openvla])
def test_a_folder_is_timed_whole(tmp_path: Path, write: Any) -> None:
    timing = measure(str(write(tmp_path / "tiny")), None, rounds=2)
    assert (timing.name, timing.device) == ("tiny", "cpu, one core")
    assert (len(timing.action_ms), len(timing.plain_ms), len(timing.batch_ms)) == (2, 2, 1)
    assert min(*timing.action_ms, *timing.plain_ms, *timing.batch_ms, timing.first_ms, timing.floor_ms) > 0


def timing(name: str, device: str) -> dict[str, Any]:
    times = {"action_ms": [20.0, 30.0, 40.0], "plain_ms": [60.0], "batch_ms": [6.0], "first_ms": 99.0, "floor_ms": 15.0}
    return {"name": name, "device": device, "memory_mb": 1.0, "weights_mb": 1.0, "bandwidth_gb_s": 1.0, **times}


def test_a_small_network_has_goals_on_one_core() -> None:
    found = {line[0]: line for line in lines(timing("octo-mini", "cpu, one core"), mini=True)}
    assert found["octo-mini, an action"][1:6] == (30.0, 20.0, 40.0, "ms", 60.0)
    assert found["octo-mini, of the plain way's time"][1] == 0.5
    assert found["octo-mini, of the plain way's time"][5] == pytest.approx(1 / 1.3)
    assert found["octo-mini, an action / memory floor"][1] == 2.0
    assert found["octo-mini, each of a batch of 8 / alone"][5] is None


def test_a_published_size_has_goals_on_a_graphics_card_alone() -> None:
    for device, goal in (("NVIDIA H100", 51.0), ("cpu, one core", None)):
        found = {line[0]: line for line in lines(timing("openvla-7b", device), mini=False)}
        assert found["openvla-7b, an action"][5] == goal
        assert found["openvla-7b, each of a batch of 8 / alone"][5] == (0.25 if goal else None)


def test_only_the_two_families_that_ship_are_timed() -> None:
    assert all(path.name.startswith(("openvla", "octo")) for path in shipped())
