import assert from "node:assert/strict";
import test from "node:test";

import { PerspectiveCamera, Vector3 } from "three";

import { farthestFrom, fieldOfView, lookThrough, OVERVIEW, presetsOf } from "../src/viewer/cameras.js";

/** @param {number} aspect @param {[number, number, number]} point x and y in the picture, -1 to 1 */
function seen(aspect, point) {
  const camera = new PerspectiveCamera(fieldOfView({ camera: OVERVIEW, square: false }, aspect), aspect, 0.02, 30);
  camera.lookAt(lookThrough(camera, OVERVIEW));
  camera.updateMatrixWorld();
  const { x, y } = new Vector3(...point).project(camera);
  return { x, y };
}

/** Where the tool may go: simulation/worlds/widowx.py, WORKSPACE. */
const CORNERS = [0.12, 0.46].flatMap((x) => [-0.28, 0.28].flatMap((y) => [0, 0.3].map((z) => [x, y, z])));

for (const [name, aspect] of [["4:3", 4 / 3], ["16:9", 16 / 9], ["landscape of a phone", 2.2], ["portrait", 3 / 4], ["tall portrait", 0.46]]) {
  test(`the first view has all places of the tool inside, at ${name}`, () => {
    for (const corner of CORNERS) {
      const { x, y } = seen(aspect, corner);
      assert.ok(Math.abs(x) < 1 && Math.abs(y) < 1, `${corner} is at ${x}, ${y}`);
    }
  });
}

test("in the first view the robot's left is the viewer's left", () => {
  assert.ok(seen(4 / 3, [0.3, 0.13, 0]).x < seen(4 / 3, [0.3, -0.13, 0]).x);
});

test("a scene's own camera may be farther away than people otherwise go, and stays where the scene has it", () => {
  const far = { pos: [-1.05, -1.45, 1.1], quat: [0.778, 0.504, -0.204, -0.315], fovy: 48 }; // of the kitchen
  const camera = new PerspectiveCamera();
  const target = lookThrough(camera, far);
  assert.ok(camera.position.distanceTo(target) > 2.2);
  assert.equal(farthestFrom(camera, target), camera.position.distanceTo(target));
  assert.equal(farthestFrom(camera, camera.position.clone().addScalar(0.5)), 2.2);
});

test("the first view is the default", () => {
  assert.deepEqual(presetsOf([])[0], { id: "overview", camera: OVERVIEW, square: false, riding: false });
});

test("what the policies see is whole in a square, and not wider in a narrow picture", () => {
  const preset = { camera: { fovy: 46 }, square: true };
  assert.ok(Math.abs(fieldOfView(preset, 1) - 46) < 1e-9);
  assert.ok(Math.abs(fieldOfView(preset, 1.2) - 46) < 1e-9);
  assert.ok(fieldOfView(preset, 0.5) > 46);
});
