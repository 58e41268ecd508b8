import assert from "node:assert/strict";
import test from "node:test";

import loadMujoco from "@mujoco/mujoco";

import { describeScene } from "../src/viewer/describe.js";

const XML = `<mujoco>
  <asset>
    <texture name="checks" type="2d" builtin="checker" width="4" height="4" rgb1="1 0 0" rgb2="0 0 1"/>
    <material name="tiles" texture="checks" texrepeat="3 2" rgba="0.2 0.4 0.6 1"/>
    <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/>
  </asset>
  <worldbody>
    <geom type="plane" size="2 3 0.1" material="tiles"/>
    <body name="block"><freejoint/><geom name="block" type="box" size="0.1 0.2 0.3" rgba="1 0 0 1"/></body>
    <body name="shape"><joint name="swing" type="hinge"/><geom type="mesh" mesh="wedge" group="3"/><geom type="box" size="0.1 0.1 0.1" contype="0" conaffinity="0"/></body>
  </worldbody>
</mujoco>`;

test("the engine is the one that the lock file names, and describes a scene", async (context) => {
  const engine = await loadMujoco();
  assert.match(engine.mj_versionString(), /^3\.14\.0$/);
  const model = engine.MjModel.from_xml_string(XML);
  context.after(() => model.delete());
  const scene = describeScene(model);

  assert.equal(scene.nq, 8);
  assert.deepEqual(scene.joints, [
    { type: 0, qposadr: 0 },
    { type: 3, qposadr: 7 },
  ]);
  const [plane, block, shape] = scene.geoms;
  assert.equal(plane.name, "", "what has no name gets none");
  assert.equal(block.name, "block");
  assert.deepEqual(block.size, [0.1, 0.2, 0.3]);
  assert.equal(shape.group, 3);
  assert.ok(plane.touches);
  assert.ok(!scene.geoms[1 + scene.geoms.indexOf(shape)].touches, "what is only to be seen");
  const { index, positions, normals } = scene.meshes[shape.mesh];
  assert.equal(index.length, 3 * 4, "four triangles");
  assert.equal(normals.length, positions.length);
  assert.equal(Math.max(...index), positions.length / 3 - 1, "every row is used");
  assert.ok(positions.length / 3 <= index.length);
  assert.deepEqual(scene.materials[plane.material].repeat, [3, 2]);
  const texture = scene.textures[scene.materials[plane.material].texture];
  assert.deepEqual([texture.width, texture.height, texture.pixels.length], [4, 4, 64]);
});
