// The room around a scene, and what its table stands on: four walls, lit from above the table, which whoever looks in from outside sees through.

import * as THREE from "three";

import { quickMaterial } from "./quick-material.js";

/** @import { QuickLight } from "./quick-material.js" */

/** Walls [m]: where they stand, and from the floor to above what any camera sees. */
const [NEAR, FAR] = [[-2.6, -2.4], [1.75, 1.5]];
const [FLOOR, CEILING] = [-0.7, 2.6];
/** Squares of a wall in each direction, between whose corners the light is interpolated. */
const GRID = 6;
/** The place that the light falls on [m], how far around it, and how much more of it there is. */
const SPOT = new THREE.Vector3(1.2, 0.6, 0.5);
const [WIDTH, GLOW] = [1.5, 0.45];
/** What the table stands on [m]. @type {Record<"size" | "middle", THREE.Vector3Tuple>} */
const CABINET = { size: [0.66, 0.74, 0.66], middle: [0.2, 0, -0.37] };
/** What a wall shows of its colour where no light falls on it in particular. */
const BASE = 1.45;

export class Room {
  #colour = new THREE.Color();
  #material;
  #dark;
  /** @type {THREE.Mesh[]} */
  meshes;

  /**
   * @param {QuickLight} light with which walls are drawn in every quality, in one program with everything else of the coarser ones
   * @param {boolean} hasTable a scene without one would have its own furniture hidden by what tables stand on
   */
  constructor(light, hasTable) {
    this.#material = quickMaterial({ color: this.#colour, transparent: false, opacity: 1, map: null }, light, null);
    this.#dark = quickMaterial({ color: new THREE.Color("#575c64"), transparent: false, opacity: 1, map: null }, light, null);
    this.meshes = [
      wall([FAR[0], NEAR[1]], [FAR[0], FAR[1]]),
      wall([FAR[0], FAR[1]], [NEAR[0], FAR[1]]),
      wall([NEAR[0], FAR[1]], [NEAR[0], NEAR[1]]),
      wall([NEAR[0], NEAR[1]], [FAR[0], NEAR[1]]),
    ].map((geometry) => new THREE.Mesh(geometry, this.#material));
    if (hasTable) this.meshes.push(cabinet(this.#dark));
  }

  /** @param {string} colour CSS */
  setColour(colour) {
    this.#colour.set(colour).multiplyScalar(BASE);
  }

  dispose() {
    this.#material.dispose();
    this.#dark.dispose();
    for (const { geometry } of this.meshes) geometry.dispose();
  }
}

/**
 * A wall seen from its left side on the way from one corner to the other. Its normals bend upwards, towards the light, where
 * more of it falls.
 * @param {number[]} from @param {number[]} to
 */
function wall([x, y], [toX, toY]) {
  const geometry = new THREE.PlaneGeometry(1, 1, GRID, GRID);
  const [position, normal] = [geometry.getAttribute("position"), geometry.getAttribute("normal")];
  const inwards = new THREE.Vector3(y - toY, toX - x, 0).normalize();
  const point = new THREE.Vector3();
  for (let i = 0; i < position.count; i += 1) {
    const along = 0.5 - position.getX(i);
    point.set(x + along * (toX - x), y + along * (toY - y), FLOOR + (position.getY(i) + 0.5) * (CEILING - FLOOR));
    position.setXYZ(i, ...point.toArray());
    const glow = GLOW * Math.exp(-((point.distanceTo(SPOT) / WIDTH) ** 2));
    normal.setXYZ(i, ...inwards.clone().addScaledVector(UP, glow).normalize().toArray());
  }
  return geometry;
}

/** @param {THREE.Material} material */
function cabinet(material) {
  const mesh = new THREE.Mesh(new THREE.BoxGeometry(...CABINET.size), material);
  mesh.position.set(...CABINET.middle);
  return mesh;
}

const UP = new THREE.Vector3(0, 0, 1);
