// What the picture is made of, as far as it is only computed.

import assert from "node:assert/strict";
import test from "node:test";

import { BoxGeometry, DirectionalLight, HemisphereLight } from "three";

import { coarser } from "../src/viewer/coarser.js";
import { quickLight } from "../src/viewer/quick-material.js";
import { Room } from "../src/viewer/room.js";
import { coloursOf } from "../src/viewer/scene.js";
import { ellipseBelow, SoftShadows, widestOfEach } from "../src/viewer/soft-shadows.js";
import { woodGrain } from "../src/viewer/wood.js";

const LOOK = { darkness: 0.6, highest: 0.5, slant: [0.1, 0.3] };
const CUBE = { centre: [0, 0, 0], half: [0.02, 0.02, 0.02] };
const UPRIGHT = [1, 0, 0, 0, 1, 0, 0, 0, 1];
const at = (x, y, z, turn = UPRIGHT) => ({ xpos: Float64Array.of(x, y, z), xmat: Float64Array.from(turn) });
const area = ({ matrix }) => matrix[0] * matrix[5];

test("a shadow lies where its thing stands, a little wider than it", () => {
  const { matrix, darkness } = ellipseBelow(CUBE, at(0.3, -0.1, 0.02), 0, LOOK);
  assert.ok(Math.abs(matrix[12] - 0.302) < 1e-9 && Math.abs(matrix[13] + 0.094) < 1e-9);
  assert.ok(matrix[0] > 0.02 && matrix[0] < 0.04);
  assert.ok(darkness > 0.5 && darkness <= 0.6);
});

test("the higher a thing is, the wider and fainter is its shadow, until there is none", () => {
  const found = [0.02, 0.08, 0.2, 0.4, 0.6].map((z) => ellipseBelow(CUBE, at(0, 0, z), 0, LOOK));
  for (let i = 1; i < found.length; i += 1) {
    assert.ok(area(found[i]) > area(found[i - 1]));
    assert.ok(found[i].darkness < found[i - 1].darkness);
  }
  assert.equal(found.at(-1).darkness, 0);
});

test("what lies below the table casts no shadow on it", () => {
  assert.equal(ellipseBelow(CUBE, at(0.3, 0, -1), 0, LOOK).darkness, 0);
});

test("the shadow of a beam is as long and as turned as the beam", () => {
  const beam = { centre: [0, 0, 0], half: [0.1, 0.01, 0.01] };
  const { matrix } = ellipseBelow(beam, at(0, 0, 0.01, [0, -1, 0, 1, 0, 0, 0, 0, 1]), 0, LOOK);
  assert.ok(matrix[0] < 0.02 && matrix[5] > 0.1);
});

test("a thing of many parts casts the shadow of its widest part alone", () => {
  const part = (body, ...size) => ({ geom: { body }, geometry: new BoxGeometry(...size) });
  const [top, side, cube] = [part(3, 0.2, 0.14, 0.01), part(3, 0.01, 0.13, 0.12), part(4, 0.03, 0.03, 0.03)];
  assert.deepEqual(widestOfEach([side, top, cube]), [top, cube]);
});

test("every geom that casts a shadow has one in the drawing", () => {
  const geometry = new BoxGeometry(0.04, 0.04, 0.04);
  const shadows = new SoftShadows([{ index: 1, geometry }], LOOK);
  shadows.update({ xpos: Float64Array.of(9, 9, 9, 0.2, 0.1, 0.02), xmat: Float64Array.from([...UPRIGHT, ...UPRIGHT]) });
  assert.equal(shadows.mesh.count, 1);
  assert.ok(Math.abs(shadows.mesh.instanceMatrix.array[12] - 0.202) < 1e-6);
});

test("a mesh becomes coarser without gaps: neighbours keep their common corners", () => {
  const side = 40; // a square of 40 x 40 quads of half a millimetre
  const positions = Float32Array.from({ length: 3 * (side + 1) ** 2 }, (_, i) => {
    const vertex = Math.floor(i / 3);
    return [(vertex % (side + 1)) * 0.0005, Math.floor(vertex / (side + 1)) * 0.0005, 0][i % 3];
  });
  const index = Array.from({ length: side * side }, (_, quad) => {
    const corner = Math.floor(quad / side) * (side + 1) + (quad % side);
    return [corner, corner + 1, corner + side + 1, corner + 1, corner + side + 2, corner + side + 1];
  }).flat();
  const coarse = coarser({ index: Uint32Array.from(index), positions });
  assert.ok(coarse.index.length < index.length / 4);
  assert.ok(Math.abs(surface(coarse) - 0.02 ** 2) < 0.15 * 0.02 ** 2);
});

/** The area of a flat mesh [m²]. */
function surface({ index, positions }) {
  let sum = 0;
  for (let i = 0; i < index.length; i += 3) {
    const [a, b, c] = [0, 1, 2].map((corner) => positions.subarray(3 * index[i + corner], 3 * index[i + corner] + 2));
    sum += 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]));
  }
  return sum;
}

test("a mesh of large triangles stays as it is", () => {
  const { index, attributes } = new BoxGeometry(0.1, 0.1, 0.1);
  const mesh = { index: Uint32Array.from(index.array), positions: Float32Array.from(attributes.position.array) };
  assert.deepEqual(coarser(mesh), mesh);
});

test("wood is the same at every visit, opaque, and continues at its edges", () => {
  const { pixels, width, height } = woodGrain();
  assert.deepEqual(woodGrain().pixels, pixels);
  let most = 0;
  for (let y = 0; y < height; y += 1) {
    const [first, last] = [4 * y * width, 4 * (y * width + width - 1)];
    assert.equal(pixels[first + 3], 255);
    most = Math.max(most, Math.abs(pixels[first] - pixels[last]));
  }
  assert.ok(most < 40, `${most}`);
});

test("wood is nowhere so dark that an object could be lost on it", () => {
  const { pixels } = woodGrain();
  const red = pixels.filter((_, i) => i % 4 === 0);
  assert.ok(red.every((value) => value > 110));
  assert.ok(red.reduce((sum, value) => sum + value, 0) / red.length > 200);
});

test("the colours of an arm are those of its geoms, or of their materials, and of nothing beside it", () => {
  const materials = [{ rgba: [0.2, 0.3, 0.4, 1] }];
  const part = (rgba, material = -1, robot = true) => ({ geom: { rgba, material }, robot });
  const plain = [part([0.5, 0.5, 0.5, 1], 0), part([0.2, 0.3, 0.4, 1]), part([1, 0, 0, 1], -1, false)];
  assert.deepEqual([...coloursOf(plain, { materials })], ["0.2,0.3,0.4,1"]);
  assert.equal(coloursOf([...plain, part([0.8, 0.8, 0.8, 1])], { materials }).size, 2);
});

test("a scene without a table has nothing where a table would stand", () => {
  const light = quickLight(new HemisphereLight(), new DirectionalLight());
  const [withTable, without] = [true, false].map((hasTable) => new Room(light, hasTable).meshes.length);
  assert.equal(withTable, 5);
  assert.equal(without, 4);
});
