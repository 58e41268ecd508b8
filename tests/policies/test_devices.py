"""Devices are checked by name before any work, and each family has its number type there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from policies import bench, checkpoints, devices, memory
from policies.base import PolicyError
from policies.devices import UnknownDevice
from policies.policy_cache import Device, PolicyCache
from robots.runtime import own_device
from tests.policies.tiny_networks import write_octo, write_openvla

OPENVLA_7B, OCTO_BASE = 15_082_474_368, 809_834_544
CARD_24_GB = 23_034 << 20  # what an L4 or A10 tells, the least of the cards of 24 GB


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two graphics cards, as far as asking for them goes."""
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (CARD_24_GB - (600 << 20), CARD_24_GB))


@pytest.mark.parametrize("name", ["gpu", "cuda", "cuda:1", "meta", "cpu:3", "mps", "0x", "CUDA"])
def test_a_device_that_is_not_there_is_refused_with_those_that_are(name: str) -> None:
    with pytest.raises(UnknownDevice, match=rf"device '{name}' .*there: cpu \(torch .* is built without CUDA\)$"):
        devices.find(name)


@pytest.mark.usefixtures("cards")
def test_a_card_beyond_the_last_is_refused_with_those_that_are_there() -> None:
    assert [str(devices.find(name)) for name in ("cuda", "cuda:1", "cpu", None)] == ["cuda", "cuda:1", "cpu", "cpu"]
    with pytest.raises(UnknownDevice, match=r"'cuda:2' is not on this machine; there: cpu, cuda:0, cuda:1"):
        devices.find("cuda:2")


def test_training_refuses_a_device_before_it_reads_anything(tmp_path: Path) -> None:
    run = ["--data", tmp_path / "none", "--run", tmp_path / "run", "--out", tmp_path / "out"]
    with pytest.raises(CommandError, match=r"'cuda:7' is not on this machine; there: cpu"):
        call_command("train", "film", *map(str, run), "--device", "cuda:7")
    assert not list(tmp_path.iterdir())


@pytest.mark.django_db
def test_evaluation_refuses_a_device_before_it_plays() -> None:
    with pytest.raises(CommandError, match=r"'gpu' is no device's name; there: cpu"):
        call_command("evaluate", "hold-still", "--episodes", "1", "--device", "gpu")


def test_a_benchmark_refuses_a_device_before_it_builds_a_network() -> None:
    with pytest.raises(UnknownDevice, match="there: cpu"):
        bench.measure("openvla-7b", "cuda")


def test_a_worker_names_its_setting(settings: SimpleNamespace) -> None:
    settings.WORKER_DEVICE = "cuda:9"
    with pytest.raises(ImproperlyConfigured, match=r"ARENA_WORKER_DEVICE: device 'cuda:9' .*there: cpu"):
        own_device()


@pytest.mark.usefixtures("cards")
def test_openvla_7b_and_octo_base_fit_into_the_budget_of_a_card_of_24_gb(settings: SimpleNamespace) -> None:
    settings.WORKER_DEVICE, settings.WORKER_MEMORY_GB = "cuda", 0
    device = own_device()
    assert device.budget >= OPENVLA_7B + OCTO_BASE
    assert PolicyCache(device).fits(OPENVLA_7B + OCTO_BASE)
    assert not PolicyCache(Device("cuda", memory.budget("cuda", 2), device.free)).fits(OPENVLA_7B)


@pytest.mark.usefixtures("cards")
def test_a_budget_on_a_card_leaves_room_for_activations() -> None:
    assert memory.budget("cuda") <= CARD_24_GB - 4e9


@pytest.mark.usefixtures("cards")
def test_octo_is_in_float32_on_a_card_and_in_bfloat16_only_if_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checkpoints.default_device("cuda", "octo")[1] == torch.float32
    assert checkpoints.default_device("cuda", "openvla")[1] == torch.bfloat16
    monkeypatch.setenv(devices.OCTO_TYPE, "bfloat16")
    assert checkpoints.default_device("cuda", "octo")[1] == torch.bfloat16
    assert checkpoints.default_device("cpu", "octo")[1] == torch.float32


@pytest.mark.usefixtures("cards")
def test_an_unknown_number_type_lists_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(devices.OCTO_TYPE, "float16")
    with pytest.raises(PolicyError, match="ARENA_OCTO_CUDA_DTYPE='float16' is unknown; known are float32, bfloat16"):
        checkpoints.default_device("cuda", "octo")


@pytest.mark.usefixtures("cards")
def test_the_expected_bytes_are_those_of_the_family_s_number_type(tmp_path: Path) -> None:
    octo, openvla = write_octo(tmp_path / "octo"), write_openvla(tmp_path / "openvla")
    assert memory.expected_bytes(octo, "cuda") == memory.expected_bytes(octo, "cpu")
    assert memory.expected_bytes(openvla, "cuda") * 2 == memory.expected_bytes(openvla, "cpu")
