"""The Franka kitchen: microwave, kettle, stove with four knobs, light, a slide cabinet and a hinge cabinet.

Bodies, joints and what touches are those of gymnasium-robotics' FrankaKitchen (simulation.fetching.kitchen), colours,
lamps and cameras ours. The kettle stands elsewhere on its burner for every seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import mujoco
import numpy as np

from simulation import assets
from simulation.contracts import Floats
from simulation.worlds.plugins import Look

id = "kitchen"
FILES = "kitchen"
VARIANTS = ("",)
DOORS = ("microwave", "slide_cabinet", "left_hinge_cabinet", "right_hinge_cabinet")
KNOBS = ("bottom_left_knob", "bottom_right_knob", "top_left_knob", "top_right_knob")
TARGETS = (*DOORS, *KNOBS, "light_switch")
"""Named as the joint that carries each."""
LOOK = Look("kitchen-1")
STARTS: Mapping[str, Floats] = {}
RENAMED = {
    '"microdoorroot"': '"microwave"',
    '"slidelink"': '"slide_cabinet"',
    '"hingeleftdoor"': '"left_hinge_cabinet"',
    '"hingerightdoor"': '"right_hinge_cabinet"',
    '"lightswitchroot"': '"light_switch"',
    '<body name="kettleroot" childclass="kettle">': (
        '<body name="kettle" childclass="kettle"><freejoint name="kettle"/>'
    ),
    **{
        f'"{old.format(number)}"': f'"{new.format(name)}"'
        for number, name in enumerate(("bottom_right_knob", "bottom_left_knob", "top_right_knob", "top_left_knob"), 1)
        for old, new in (("knob {}", "{}"), ("knob_Joint_{}", "{}"), ("knob{}_site", "{}_handle"))
    },
    '"microhandle_site"': '"microwave_handle"',
    '"hinge_site2"': '"right_hinge_cabinet_handle"',
    '"slide_site"': '"slide_cabinet_handle"',
    '"light_site"': '"light_switch_handle"',
}
"""What stands in the wheel's files -> in ours: names, and the kettle as one body with its own joint."""
KETTLE = (0.35, 0.269, -0.184)  # where it stands in FrankaKitchen [m]
PLAY_M, PLAY_RAD = 0.03, 0.15  # how far a seed moves and turns it
SEEN = 1  # group of what is only looked at


def objects(variant: str) -> tuple[str, ...]:
    return ("kettle",)


def build(variant: str) -> mujoco.MjSpec:
    files = assets.robot_meshes(FILES)
    xml = Path(__file__).with_suffix(".xml").read_text("utf-8")
    used = {name: content for name, content in files.items() if f'"{name}"' in xml and name.endswith(".stl")}
    chains = {name: _renamed(content) for name, content in files.items() if name.endswith("_chain.xml")}
    spec = mujoco.MjSpec.from_string(xml, include=chains, assets=used)
    spec.assets = used
    for light in [*spec.lights]:
        if light.name == "ovenlight":
            spec.delete(light)
    for geom in spec.geoms:
        if geom.group == SEEN:
            geom.mass = 0.0
    return spec


def sample(rng: np.random.Generator, variant: str) -> Mapping[str, Floats]:
    x, y = np.array(KETTLE[:2]) + rng.uniform(-PLAY_M, PLAY_M, 2)
    half = (float(rng.uniform(-PLAY_RAD, PLAY_RAD)) - np.pi / 2) / 2
    return {"kettle": np.array([x, y, KETTLE[2], np.cos(half), 0.0, 0.0, np.sin(half)])}


def _renamed(content: bytes) -> bytes:
    text = content.decode("utf-8")
    for old, new in RENAMED.items():
        text = text.replace(old, new)
    return text.encode("utf-8")
