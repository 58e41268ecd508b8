"""The columns of a policy's registry row: from its card, or for published weights from what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from policies.base import PolicyCard

# Weights that their authors publish and the arena does not ship. Shapes and counts: docs/policies.md.
PUBLISHED: dict[str, dict[str, Any]] = {
    "openvla-7b": {
        "name": "OpenVLA 7B",
        "family": "openvla",
        "adapter": "openvla",
        "description": "A Llama 2 language model that sees through DINOv2 and SigLIP and writes actions as tokens.",
        "organization": "OpenVLA team",
        "license": "MIT; base model under the Llama 2 licence",
        "provenance": "Published weights of OpenVLA 7B; not trained by VLA Arena",
        "source": "https://github.com/openvla/openvla; arXiv 2406.09246",
        "training_data": "Open X-Embodiment: 970,000 demonstrations of real robots, BridgeData V2 among them",
        "parameters": 7_541_237_184,
        "weights_bytes": 15_082_474_368,
        "statistics_key": "bridge_orig",
    },
    "octo-base": {
        "name": "Octo base 1.5",
        "family": "octo",
        "adapter": "octo",
        "description": "A transformer over pictures and T5's reading of the instruction; draws chunks of actions.",
        "organization": "Octo model team",
        "license": "MIT",
        "provenance": "Published weights of Octo base 1.5; not trained by VLA Arena",
        "source": "https://github.com/octo-models/octo; arXiv 2405.12213",
        "training_data": "Open X-Embodiment: 800,000 demonstrations of real robots, BridgeData V2 among them",
        "parameters": 202_458_636,  # T5's encoder, 109,628,544 of them, included
        "weights_bytes": 809_834_544,
        "statistics_key": "bridge_dataset",
    },
}


def install_line(model_id: str) -> str:
    """The command that installs a policy's weights."""
    return f"manage.py add_policy {model_id} --weights PATH"


def card_fields(card: PolicyCard, folder: Path) -> dict[str, Any]:
    """Columns of a registry row from a folder's card."""
    return {
        "name": card.spec.name,
        "family": card.spec.family,
        "adapter": card.spec.family,
        "description": card.description,
        "organization": card.organization,
        "license": card.license,
        "provenance": card.provenance,
        "training_data": training_data(card.training),
        "source": str(card.training.get("source", "")),
        "parameters": card.training.get("parameters"),
        "weights_bytes": stored_bytes(folder) or None,
        "revision": card.revision,
        "model_path": str(folder),
        "card": card.to_json(),
    }


def training_data(training: Mapping[str, Any]) -> str:
    """A sentence about the data: the card's own, or one made of the counts that training writes into the card."""
    if text := training.get("training_data"):
        return str(text)
    if not (count := training.get("demonstrations")):
        return ""
    frames = f" ({training['frames']:,} frames)" if training.get("frames") else ""
    return f"{count:,} scripted demonstrations in simulation{frames}"


def stored_bytes(folder: Path) -> int:
    """Bytes of the weights' files: safetensors, or where there are none, Octo's published checkpoint."""
    files = list(folder.glob("*.safetensors")) or [path for path in folder.rglob("checkpoint") if path.is_file()]
    return sum(path.stat().st_size for path in files)
