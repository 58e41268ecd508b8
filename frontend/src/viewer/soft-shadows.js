// Soft shadows on the table at the cost of a few transparent ellipses: one below each thing, wider and fainter the higher it is.

import * as THREE from "three";

/** @import { GeomPoses } from "./poses.js" */

/** How far a shadow fades out around a thing that stands on the table, and more for each metre above it [m]. */
const [SOFTNESS, SPREAD] = [0.013, 0.4];
/** The share of a thing's outline inside which its shadow is full. */
const CORE = 0.55;
/** Drawn this far above the table [m], over the plates on it as well: see `ORDER` of the scene. */
const LIFT = 0.001;

const VERTEX = /* glsl */ `
  attribute vec2 shadow;
  varying vec2 place;
  varying vec2 depth;
  void main() {
    place = position.xy;
    depth = shadow;
    gl_Position = projectionMatrix * modelViewMatrix * instanceMatrix * vec4(position, 1.0);
  }`;
const FRAGMENT = /* glsl */ `
  varying vec2 place;
  varying vec2 depth;
  void main() {
    gl_FragColor = vec4(vec3(1.0 - depth.x * smoothstep(1.0, depth.y, length(place))), 1.0);
  }`;

/**
 * @typedef {{index: number, geometry: THREE.BufferGeometry}} Caster a geom that casts a shadow
 * @typedef {{darkness: number, highest: number, slant: readonly [number, number]}} ShadowLook `darkness`: of full shadow, 0 to
 *   1; `highest`: above this height [m] nothing casts any; `slant`: how far shadows fall aside for each metre of height
 */

export class SoftShadows {
  #casters;
  #look;
  /** Of each: how dark it is, and the share of the ellipse inside which it is that dark. */
  #depths;
  /** The object to add to a scene, after what shadows fall on and before everything else. */
  mesh;

  /** @param {Caster[]} casters @param {ShadowLook} look */
  constructor(casters, look) {
    this.#look = look;
    this.#casters = casters.map(({ index, geometry }) => ({ index, box: boxOf(geometry) }));
    const square = new THREE.PlaneGeometry(2, 2);
    this.#depths = new THREE.InstancedBufferAttribute(new Float32Array(2 * casters.length), 2);
    square.setAttribute("shadow", this.#depths);
    this.mesh = new THREE.InstancedMesh(square, shadowMaterial(), casters.length);
    this.mesh.frustumCulled = false;
  }

  /** @param {GeomPoses} pose */
  update(pose) {
    this.#casters.forEach(({ index, box }, instance) => {
      const { darkness, core, matrix } = ellipseBelow(box, pose, index, this.#look);
      this.#depths.setXY(instance, darkness, core);
      this.mesh.instanceMatrix.array.set(matrix, 16 * instance);
    });
    this.#depths.needsUpdate = true;
    this.mesh.instanceMatrix.needsUpdate = true;
  }

  dispose() {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
    this.mesh.dispose();
  }
}

/**
 * The widest geom of each body: were every part of a thing to cast a shadow, that of the whole would be too dark.
 * @template {{geom: {body: number}, geometry: THREE.BufferGeometry}} Part
 * @param {Part[]} parts @returns {Part[]}
 */
export function widestOfEach(parts) {
  /** @type {Map<number, Part>} */
  const found = new Map();
  for (const part of parts) {
    const known = found.get(part.geom.body);
    if (!known || widthOf(part.geometry) > widthOf(known.geometry)) found.set(part.geom.body, part);
  }
  return [...found.values()];
}

/** The area of the largest side of its box [m2], a quarter of it. @param {THREE.BufferGeometry} geometry */
function widthOf(geometry) {
  const [, middle, longest] = boxOf(geometry).half.sort((a, b) => a - b);
  return middle * longest;
}

/** Multiplies what is behind it. It counts as opaque, to be drawn between the table and the things on it. */
function shadowMaterial() {
  return new THREE.ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    blending: THREE.CustomBlending,
    blendSrc: THREE.ZeroFactor,
    blendDst: THREE.SrcColorFactor,
    depthTest: false,
    depthWrite: false,
  });
}

/** @param {THREE.BufferGeometry} geometry */
function boxOf(geometry) {
  if (!geometry.boundingBox) geometry.computeBoundingBox();
  const box = /** @type {THREE.Box3} */ (geometry.boundingBox);
  return { centre: box.getCenter(new THREE.Vector3()).toArray(), half: box.getSize(new THREE.Vector3()).multiplyScalar(0.5).toArray() };
}

/**
 * The shadow of a box: the spread of its points in x and y, a 2 x 2 covariance, is widened with height; its Cholesky factor
 * turns a circle into the ellipse.
 * @param {{centre: number[], half: number[]}} box in the geom's frame [m] @param {GeomPoses} pose @param {number} index
 * @param {ShadowLook} look
 */
export function ellipseBelow({ centre, half }, { xpos, xmat }, index, { darkness, highest, slant }) {
  const turn = xmat.subarray(9 * index, 9 * index + 9);
  const [x, y, z] = [0, 3, 6].map((row, axis) => xpos[3 * index + axis] + dot(turn, row, centre));
  const [edgesX, edgesY, edgesZ] = [0, 3, 6].map((row) => half.map((length, column) => turn[row + column] * length));
  const reach = edgesZ.reduce((sum, edge) => sum + Math.abs(edge), 0);
  const bottom = Math.max(0, z - reach);
  const soft = (SOFTNESS + SPREAD * bottom) ** 2;
  const [xx, xy, yy] = [product(edgesX, edgesX), product(edgesX, edgesY), product(edgesY, edgesY)];
  const [a, b] = [Math.sqrt(xx + soft), xy / Math.sqrt(xx + soft)];
  const c = Math.sqrt(yy + soft - b * b);
  const share = Math.sqrt(Math.max(0, xx * yy - xy * xy)) / (a * c);
  return {
    // As much light is missing from a wide shadow as from a narrow one. What is below the table casts none on it.
    darkness: bottom < highest && z > -reach ? darkness * Math.min(1, 2 * share) * Math.min(1, 4 - (4 * bottom) / highest) : 0,
    core: CORE * Math.sqrt(share),
    // biome-ignore format: a matrix, column by column
    matrix: [a, b, 0, 0, 0, c, 0, 0, 0, 0, 1, 0, x + slant[0] * z, y + slant[1] * z, LIFT, 1],
  };
}

/** @param {Float64Array} matrix @param {number} row where it starts @param {number[]} vector */
const dot = (matrix, row, vector) => matrix[row] * vector[0] + matrix[row + 1] * vector[1] + matrix[row + 2] * vector[2];

/** @param {number[]} one @param {number[]} other */
const product = (one, other) => one[0] * other[0] + one[1] * other[1] + one[2] * other[2];
