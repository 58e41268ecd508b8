"""The tables of benchmarks in the documentation are those of the page: `manage.py benchmarks` prints them."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command

from robots.benchmarks import tables
from robots.benchmarks.measured import measured
from robots.benchmarks.published import BRIDGE, LIBERO
from tests.stack import BASE_DIR


@pytest.mark.parametrize(("benchmark", "page"), [(BRIDGE, "worlds.md"), (LIBERO, "benchmarks.md")])
def test_the_page_has_every_row(benchmark: str, page: str) -> None:
    table = "\n".join(tables.markdown(benchmark, measured()))
    assert table in (BASE_DIR / "docs" / page).read_text(), "replace the table by what manage.py benchmarks prints"


def test_the_command_prints_both_tables() -> None:
    out = StringIO()
    call_command("benchmarks", stdout=out)
    assert (
        "| Octo-small | 47.2 | 9.7 | 4.2 | 56.9 | 30.0 | SpatialVLA, README; trained on real robots |" in out.getvalue()
    )
    assert "| pi0.5 | 98.8 | 98.2 | 98.0 | 92.4 | 96.9 (others got 97.7) |" in out.getvalue()
