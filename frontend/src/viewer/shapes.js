// The visible geoms of a model as geometries of three.js, made once for both viewers.

import * as THREE from "three";

import { coarser } from "./coarser.js";

/**
 * @import { GeomDescription, MeshDescription, TextureDescription } from "./describe.js"
 * @import { SceneDescription } from "./engine-host.js"
 * @typedef {{geom: GeomDescription, index: number, geometry: THREE.BufferGeometry, robot: boolean, finger: boolean}} VisibleGeom
 */

const PLANE = 0;
export const SPHERE = 2;
const CAPSULE = 3;
const ELLIPSOID = 4;
const CYLINDER = 5;
export const BOX = 6;
const MESH = 7;

/** Groups from this one on are collision shapes and helpers, which MuJoCo's own viewers hide too. */
const HIDDEN_GROUP = 3;
const ENDLESS = 20;

/** The body that never moves. */
export const WORLD = 0;
/** What is at most this high [m] lies flat: shadows fall on it, and it casts none of its own. */
const FLAT = 0.008;

/** Cylinders and capsules lie along y in three.js and along z in MuJoCo. @param {THREE.BufferGeometry} geometry */
const upright = (geometry) => geometry.rotateX(Math.PI / 2);

/** @type {Record<number, (size: number[]) => THREE.BufferGeometry>} */
const shapes = {
  [PLANE]: ([x, y]) => new THREE.PlaneGeometry(2 * (x || ENDLESS), 2 * (y || ENDLESS)),
  [SPHERE]: ([radius]) => new THREE.SphereGeometry(radius, 28, 16),
  [CAPSULE]: ([radius, half]) => upright(new THREE.CapsuleGeometry(radius, 2 * half, 8, 24)),
  [ELLIPSOID]: ([x, y, z]) => new THREE.SphereGeometry(1, 32, 20).scale(x, y, z),
  [CYLINDER]: ([radius, half]) => upright(new THREE.CylinderGeometry(radius, radius, 2 * half, 48)),
  [BOX]: ([x, y, z]) => new THREE.BoxGeometry(2 * x, 2 * y, 2 * z),
};

/** The geometries of a model, created once and shared by both viewers. */
export class Shapes {
  /** By quality, then by what they are made from. @type {Record<"lite" | "full", Map<GeomDescription | MeshDescription, THREE.BufferGeometry>>} */
  #made = { lite: new Map(), full: new Map() };

  /** @param {SceneDescription} description @param {TextureDescription | null} wood the grain of tables */
  constructor(description, wood) {
    this.description = description;
    this.wood = wood;
  }

  /**
   * The visible geoms that `wanted` accepts.
   * @param {(each: Omit<VisibleGeom, "geometry">) => boolean} wanted @param {{lite: boolean}} quality `lite`: with coarser meshes
   * @returns {VisibleGeom[]}
   */
  visible(wanted, { lite }) {
    const { geoms, robot, finger } = this.description;
    return geoms
      .map((geom, index) => ({ geom, index, robot: robot[index], finger: finger[index] }))
      .filter((each) => each.geom.group < HIDDEN_GROUP && wanted(each))
      .flatMap((each) => {
        const geometry = this.#geometry(each.geom, lite);
        return geometry ? [{ ...each, geometry }] : [];
      });
  }

  dispose() {
    for (const made of Object.values(this.#made)) {
      for (const geometry of made.values()) geometry.dispose();
      made.clear();
    }
  }

  /** @param {GeomDescription} geom @param {boolean} lite @returns {THREE.BufferGeometry | undefined} */
  #geometry(geom, lite) {
    const made = this.#made[lite ? "lite" : "full"];
    const source = geom.type === MESH ? this.description.meshes[geom.mesh] : geom;
    const known = made.get(source);
    if (known) return known;
    const geometry = "index" in source ? meshGeometry(lite ? { ...source, ...coarser(source) } : source) : shapes[geom.type]?.(geom.size);
    if (!geometry) return undefined;
    if (isFurniture(geom)) layFromAbove(geometry);
    made.set(source, geometry);
    return geometry;
  }
}

/** @param {MeshDescription} mesh */
function meshGeometry({ index, positions, normals, uvs }) {
  const geometry = new THREE.BufferGeometry();
  geometry.setIndex(new THREE.BufferAttribute(index, 1));
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
  if (uvs) geometry.setAttribute("uv", new THREE.BufferAttribute(uvs, 2));
  return geometry;
}

/** A box that never moves, and on which things can stand, is a table. @param {GeomDescription} geom */
export const isFurniture = ({ type, body, touches }) => type === BOX && body === WORLD && touches;

/** @param {GeomDescription} geom */
export const isFlat = ({ type, size }) => type === PLANE || (type === CYLINDER && 2 * size[1] < FLAT);

/** Texture coordinates in metres, as seen from above; along an edge the grain goes on. @param {THREE.BufferGeometry} geometry */
function layFromAbove(geometry) {
  const position = geometry.getAttribute("position");
  const uv = geometry.getAttribute("uv");
  for (let i = 0; i < position.count; i += 1) {
    const below = position.getZ(i);
    uv.setXY(i, position.getX(i) + below, position.getY(i) + below);
  }
}
