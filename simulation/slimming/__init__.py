"""Meshes made small enough for a browser: `slim_spec` for a whole model, `slim` for one surface.

Needs the packages of requirements/test.txt; the arena itself never imports it. `scripts/slim_meshes.py` is its command.
"""

from simulation.slimming.specs import Slimmed, SlimmingError, freeze_inertials, slim_spec
from simulation.slimming.surfaces import Surface, read_surface, slim

__all__ = ["Slimmed", "SlimmingError", "Surface", "freeze_inertials", "read_surface", "slim", "slim_spec"]
