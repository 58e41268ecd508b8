"""What the answers of language models took: tokens, first words, dollars."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db.models import QuerySet

from arena.models import Attempt

COLUMNS = ("prompt_tokens", "answer_tokens", "first_token_ms", "cost")
MOST = 100_000
"""The latest answers that are read."""


def spent(attempts: QuerySet[Attempt]) -> Mapping[str, dict[str, float | None]]:
    """By contestant. A cost is null where some answer's is unknown."""
    found: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    answered = attempts.filter(answer__isnull=False).order_by("-finished_at")
    for model_id, *columns in answered.values_list("model_id", *(f"answer__{name}" for name in COLUMNS))[:MOST]:
        found[model_id].append(tuple(columns))
    return {model_id: _figures(rows) for model_id, rows in found.items()}


def _figures(rows: list[tuple[Any, ...]]) -> dict[str, float | None]:
    read, written, first, costs = zip(*rows, strict=True)
    known = None not in costs
    return {
        "First words, median [ms]": round(float(np.median(first)), 1),
        "First words, p95 [ms]": round(float(np.percentile(first, 95)), 1),
        "Tokens read": float(sum(each or 0 for each in read)),
        "Tokens written": float(sum(written)),
        "Cost [$]": round(float(sum(costs)), 6) if known else None,
        "Cost of 1000 answers [$]": round(1e3 * float(sum(costs)) / len(rows), 4) if known else None,
    }
