"""Where the weights of Qwen2.5-Coder-1.5B-Instruct are, if they are installed, and what they must be. No Django."""

from __future__ import annotations

from pathlib import Path

QWEN_NAME = "qwen2.5-coder-1.5b-instruct"
QWEN_FILE = Path(__file__).resolve().parent.parent / "build" / "models" / f"{QWEN_NAME}-q4_k_m.gguf"
"""Where `make install-qwen` puts it."""
QWEN_SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
"""Of the file that Qwen published."""
