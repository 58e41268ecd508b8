import assert from "node:assert/strict";
import test from "node:test";

import loadMujoco from "@mujoco/mujoco";

import { orderPolygons } from "../src/viewer/polygons.js";

const XML = `<mujoco>
  <asset>
    <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/>
    <mesh name="block" vertex="0 0 0  1 0 0  0 1 0  1 1 0  0 0 1  1 0 1  0 1 1  1 1 1"/>
  </asset>
  <worldbody><body><freejoint/><geom type="mesh" mesh="wedge"/><geom type="mesh" mesh="block"/></body></worldbody>
</mujoco>`;

/** The vertices of each polygon of the block, and its normal. */
function faces(model) {
  const block = 1;
  return Array.from({ length: model.mesh_polynum[block] }, (_, index) => {
    const polygon = model.mesh_polyadr[block] + index;
    const from = model.mesh_polyvertadr[polygon];
    const vertices = [...model.mesh_polyvert.subarray(from, from + model.mesh_polyvertnum[polygon])];
    return JSON.stringify([vertices, [...model.mesh_polynormal.subarray(3 * polygon, 3 * polygon + 3)]]);
  });
}

/** The polygons that each vertex of the block says to be in. */
function polygonsByVertex(model) {
  return Array.from({ length: 8 }, (_, index) => {
    const vertex = model.mesh_vertadr[1] + index;
    const from = model.mesh_polymapadr[vertex];
    return [...model.mesh_polymap.subarray(from, from + model.mesh_polymapnum[vertex])];
  });
}

test("the faces of a mesh come into the order that the recording's engine had", async (context) => {
  const engine = await loadMujoco();
  const model = engine.MjModel.from_xml_string(XML);
  context.after(() => model.delete());
  orderPolygons(model, { block: [0, 1, 2, 3, 4, 5] });
  const sorted = faces(model);
  assert.equal(sorted.length, 6);

  orderPolygons(model, { block: [5, 0, 4, 1, 3, 2] });

  assert.deepEqual(faces(model), [5, 0, 4, 1, 3, 2].map((rank) => sorted[rank]));
  const found = faces(model).map((face) => JSON.parse(face)[0]);
  const expected = Array.from({ length: 8 }, (_, vertex) => found.flatMap((face, index) => (face.includes(vertex) ? [index] : [])));
  assert.deepEqual(polygonsByVertex(model), expected);
});

test("a mesh with other faces, a scene without orders, and an unknown mesh are left as they are", async (context) => {
  const engine = await loadMujoco();
  const model = engine.MjModel.from_xml_string(XML);
  context.after(() => model.delete());
  const before = faces(model);
  orderPolygons(model, undefined);
  orderPolygons(model, { block: [1, 0], cone: [0] });
  assert.deepEqual(faces(model), before);
});
