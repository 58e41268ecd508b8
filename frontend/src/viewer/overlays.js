// Overlays of a scene: contact forces, joint axes, the paths of tool and object, a ghost.

import * as THREE from "three";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { LineSegments2 } from "three/addons/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/addons/lines/LineSegmentsGeometry.js";

/**
 * @import { GeomPoses } from "./poses.js"
 * @import { Shapes } from "./shapes.js"
 * @typedef {{points: Float64Array, seconds: number, colour: string, faint: boolean}} Path `points`: 3 per sample [m]
 */

/** The length of a force's line [m/N], and its maximum [m]. */
const FORCE_SCALE = 0.006;
const LONGEST_FORCE = 0.12;
const AXIS_HALF = 0.055;
const GHOST_OPACITY = 0.28;

export class Overlays {
  #root = new THREE.Group();
  /** @type {LineSegments2 | null} */
  #contacts = null;
  /** @type {LineSegments2 | null} */
  #joints = null;
  /** @type {Line2[]} */
  #paths = [];
  /** @type {Ghost | null} */
  #ghost = null;

  /** @param {THREE.Scene} scene @param {{contact: string, joint: string}} colours CSS colours */
  constructor(scene, colours) {
    this.colours = colours;
    scene.add(this.#root);
  }

  /** @param {Float64Array | undefined} rows position [m] and force [N], 6 per contact */
  contacts(rows) {
    this.#contacts = this.#segments(this.#contacts, rows, this.colours.contact, 3, (rows, at) => {
      const force = rows.subarray(at + 3, at + 6);
      const size = Math.hypot(...force);
      const scale = size > 0 ? Math.min(FORCE_SCALE, LONGEST_FORCE / size) : 0;
      const upwards = force[2] < 0 ? -scale : scale; // drawn out of the table, not into it
      return [0, 1, 2].flatMap((axis) => rows[at + axis]).concat([0, 1, 2].map((axis) => rows[at + axis] + upwards * force[axis]));
    });
  }

  /** @param {Float64Array | undefined} rows a point [m] and a direction, 6 per joint */
  joints(rows) {
    this.#joints = this.#segments(this.#joints, rows, this.colours.joint, 2.5, (rows, at) =>
      [-AXIS_HALF, AXIS_HALF].flatMap((reach) => [0, 1, 2].map((axis) => rows[at + axis] + reach * rows[at + 3 + axis])),
    );
  }

  /** @param {Path[]} lines */
  paths(lines) {
    for (const path of this.#paths) this.#drop(path);
    this.#paths = lines.map(({ points, seconds, colour, faint }) => {
      const geometry = new LineGeometry().setPositions(Float32Array.from(points));
      const path = new Line2(geometry, lineMaterial(colour, faint ? 1.5 : 3, faint ? 0.45 : 0.95));
      path.userData = { seconds, segments: points.length / 3 - 1 };
      path.frustumCulled = false;
      this.#root.add(path);
      return path;
    });
  }

  /** Draws the paths up to this time [s]. @param {number} time */
  progress(time) {
    for (const { geometry, userData } of this.#paths) {
      const share = Math.min(time / userData.seconds, 1);
      geometry.instanceCount = Math.max(1, Math.round(share * userData.segments));
    }
  }

  /** @param {Shapes | null} shapes of which the robot is drawn see-through; null: no ghost @param {string} colour CSS */
  ghost(shapes, colour) {
    this.#ghost?.dispose();
    this.#ghost = shapes && new Ghost(this.#root, shapes, colour);
  }

  /** @param {GeomPoses} pose */
  ghostPose(pose) {
    this.#ghost?.update(pose);
  }

  dispose() {
    for (const each of [this.#contacts, this.#joints, ...this.#paths]) if (each) this.#drop(each);
    this.#ghost?.dispose();
    this.#root.removeFromParent();
  }

  /**
   * Replaces the lines by one per six numbers of `rows`, whose ends `line` computes.
   * @param {LineSegments2 | null} before @param {Float64Array | undefined} rows @param {string} colour @param {number} width
   * @param {(rows: Float64Array, at: number) => number[]} line
   */
  #segments(before, rows, colour, width, line) {
    if (before) this.#drop(before);
    if (!rows || rows.length === 0) return null;
    const positions = [];
    for (let at = 0; at < rows.length; at += 6) positions.push(...line(rows, at));
    const drawn = new LineSegments2(new LineSegmentsGeometry().setPositions(positions), lineMaterial(colour, width, 1));
    drawn.material.depthTest = false;
    drawn.renderOrder = 2;
    drawn.frustumCulled = false;
    this.#root.add(drawn);
    return drawn;
  }

  /** @param {LineSegments2} drawn */
  #drop(drawn) {
    drawn.removeFromParent();
    drawn.geometry.dispose();
    drawn.material.dispose();
  }
}

/** The other side's robot, drawn transparently. */
class Ghost {
  #objects;
  #material;

  /** @param {THREE.Object3D} root @param {Shapes} shapes @param {string} colour CSS */
  constructor(root, shapes, colour) {
    const material = new THREE.MeshBasicMaterial({ color: colour, transparent: true, opacity: GHOST_OPACITY, depthWrite: false });
    this.#material = material;
    this.#objects = shapes.visible(({ robot }) => robot, { lite: true }).map(({ geometry, index }) => {
      const object = new THREE.Mesh(geometry, material);
      object.matrixAutoUpdate = false;
      root.add(object);
      return { object, index };
    });
  }

  /** @param {GeomPoses} pose */
  update(pose) {
    for (const { object, index } of this.#objects) setPose(object, pose, index);
  }

  dispose() {
    for (const { object } of this.#objects) object.removeFromParent();
    this.#material.dispose();
  }
}

/** Moves an object to a geom's pose. @param {THREE.Object3D} object @param {GeomPoses} poses @param {number} geom */
export function setPose(object, { xpos, xmat }, geom) {
  const p = 3 * geom;
  const r = 9 * geom;
  // prettier-ignore
  object.matrix.set(
    xmat[r], xmat[r + 1], xmat[r + 2], xpos[p],
    xmat[r + 3], xmat[r + 4], xmat[r + 5], xpos[p + 1],
    xmat[r + 6], xmat[r + 7], xmat[r + 8], xpos[p + 2],
    0, 0, 0, 1,
  );
  object.matrixWorldNeedsUpdate = true;
}

/** @param {string} colour CSS @param {number} linewidth @param {number} opacity */
function lineMaterial(colour, linewidth, opacity) {
  return new LineMaterial({ color: new THREE.Color(colour).getHex(), linewidth, opacity, transparent: opacity < 1 });
}
