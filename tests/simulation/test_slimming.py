"""Slim meshes: less to send and to draw, with the looks, the weights and the collisions of the original."""

from __future__ import annotations

from io import BytesIO

import mujoco
import numpy as np
import pytest
import trimesh
from PIL import Image

from simulation.slimming import Slimmed, SlimmingError, Surface, read_surface, slim, slim_spec

XML = """
<mujoco>
  <asset>
    <texture name="skin" type="2d" file="skin.png"/>
    <material name="skin" texture="skin" specular="0.1"/>
    <mesh name="ball" file="ball.obj"/>
    <mesh name="arm" file="arm.stl"/>
  </asset>
  <worldbody>
    <light pos="0 0 2"/>
    <camera name="front" pos="0 -0.7 0.2" xyaxes="1 0 0 0 0.28 0.96"/>
    <body name="thing" pos="0 0 0.1">
      <freejoint/>
      <geom name="look" type="mesh" mesh="ball" material="skin" contype="0" conaffinity="0" mass="0.2"/>
      <geom name="other" type="sphere" size="0.01" pos="0.15 0 0" material="skin" mass="0"/>
    </body>
    <body name="link" pos="0.2 0 0.1">
      <joint type="hinge"/>
      <geom name="link" type="mesh" mesh="arm"/>
    </body>
  </worldbody>
</mujoco>
"""


def painted() -> bytes:
    """Red left, blue right, and a green top."""
    picture = np.zeros((64, 64, 3), np.uint8)
    picture[:, :32, 0], picture[:, 32:, 2] = 220, 220
    picture[:12] = (30, 200, 40)
    out = BytesIO()
    Image.fromarray(picture).save(out, "png")
    return out.getvalue()


def ball(with_uv: bool = True) -> str:
    """An OBJ file; seen from the front, the picture lies on it as it is."""
    mesh = trimesh.creation.uv_sphere(radius=0.1, count=[60, 60])
    lines = [f"v {x} {y} {z}" for x, y, z in mesh.vertices]
    if with_uv:
        lines += [f"vt {0.5 + 5 * x} {0.5 + 5 * z}" for x, _, z in mesh.vertices]
    corners = mesh.faces + 1
    lines += ["f " + " ".join(f"{n}/{n}" if with_uv else str(n) for n in face) for face in corners]
    return "\n".join(lines)


@pytest.fixture
def spec() -> mujoco.MjSpec:
    arm = trimesh.creation.capsule(0.2, 0.03, count=[64, 64])
    found = mujoco.MjSpec.from_string(XML)
    found.assets = {"ball.obj": ball().encode(), "arm.stl": arm.export(file_type="stl"), "skin.png": painted()}
    return found


def pictured(model: mujoco.MjModel) -> np.ndarray:
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    with mujoco.Renderer(model, 120, 160) as renderer:
        renderer.update_scene(data, "front")
        return renderer.render().astype(float)


def reach(model: mujoco.MjModel, name: str, ways: np.ndarray) -> np.ndarray:
    """How far a geom reaches in directions (n, 3): all that matters to collisions of a convex shape."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    geom, mesh = model.geom(name).id, model.geom(name).dataid[0]
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    places = model.mesh_vert[first : first + count] @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
    return (places @ ways.T).max(0)


def slimmed(spec: mujoco.MjSpec, share: float = 0.1) -> dict[str, Slimmed]:
    return {each.name: each for each in slim_spec(spec, share)}


def test_a_model_has_a_tenth_of_the_faces_and_looks_the_same(spec: mujoco.MjSpec) -> None:
    before = pictured(spec.copy().compile())
    found = slimmed(spec)
    assert found["ball"].faces_after <= 0.11 * found["ball"].faces_before
    assert found["ball"].bytes_after < 0.3 * found["ball"].bytes_before
    after = pictured(spec.compile())
    assert np.abs(after - before).mean() < 2.0
    flipped = np.abs(after[:, ::-1] - before).mean()
    assert flipped > 5.0, "the picture could not tell a texture that is the wrong way round"


def test_nothing_weighs_or_collides_otherwise(spec: mujoco.MjSpec) -> None:
    before = spec.copy().compile()
    assert slimmed(spec)["arm"].solid
    after = spec.compile()
    for name in ("body_mass", "body_inertia", "body_ipos", "body_iquat"):
        assert np.allclose(getattr(after, name), getattr(before, name), rtol=1e-9, atol=1e-12), name
    ways = np.random.default_rng(0).normal(size=(200, 3))
    assert np.allclose(reach(after, "link", ways), reach(before, "link", ways), atol=1e-6)


def test_what_shares_a_material_with_a_slim_mesh_keeps_it(spec: mujoco.MjSpec) -> None:
    slimmed(spec)
    model = spec.compile()
    assert model.material(model.geom("other").matid[0]).name == "skin"
    assert model.material(model.geom("look").matid[0]).specular == pytest.approx(0.1)


def test_a_texture_that_mujoco_lays_round_a_mesh_leaves_the_mesh_whole(spec: mujoco.MjSpec) -> None:
    spec.assets = {**spec.assets, "ball.obj": ball(with_uv=False).encode()}
    before = pictured(spec.copy().compile())
    found = slimmed(spec)["ball"]
    assert found.faces_after == found.faces_before
    assert np.abs(pictured(spec.compile()) - before).mean() < 2.0


def test_vertices_at_one_place_are_welded_and_small_surfaces_stay_whole() -> None:
    box = trimesh.creation.box((0.1, 0.2, 0.3))
    loose = Surface(box.vertices[box.faces].reshape(-1, 3), np.arange(36).reshape(12, 3))
    found = slim(loose, 100)
    assert (len(found.vertices), len(found.faces)) == (8, 12)


def test_a_surface_keeps_its_size_when_it_is_simplified() -> None:
    found = slim(read_surface(ball().encode(), "obj"), 400)
    assert len(found.faces) <= 410
    assert np.ptp(found.vertices, axis=0) == pytest.approx([0.2, 0.2, 0.2], rel=0.03)


def test_missing_unknown_and_broken_files_are_named_and_change_nothing(spec: mujoco.MjSpec) -> None:
    whole = dict(spec.assets)
    spec.assets = {**whole, "arm.stl": b"solid"}
    with pytest.raises(SlimmingError, match=r"mesh arm: arm\.stl cannot be read"):
        slim_spec(spec, 0.1)
    spec.assets = whole
    spec.assets.pop("skin.png")
    with pytest.raises(SlimmingError, match=r"skin\.png is not among the assets"):
        slim_spec(spec, 0.1)
    with pytest.raises(SlimmingError, match="share: expected more than 0"):
        slim_spec(spec, 1.5)
    assert spec.mesh("ball").file == "ball.obj"


def test_an_stl_file_is_read_without_texture() -> None:
    content = trimesh.creation.icosphere().export(file_type="stl")
    found = read_surface(content, "stl")
    assert found.uv is None
    assert len(found.faces) == len(trimesh.creation.icosphere().faces)
