// Camera presets: over the robot's shoulder, the scene's own cameras under plain names, and along the fingers.

import * as THREE from "three";

/**
 * @import { PerspectiveCamera } from "three"
 * @import { SceneCamera } from "./manifest.d.ts"
 *
 * @typedef {object} Lens `quat` (w, x, y, z) or else `target` says where it looks
 * @property {THREE.Vector3Tuple} [pos] [m]; none for the camera on the tool
 * @property {THREE.Vector4Tuple} [quat]
 * @property {THREE.Vector3Tuple} [target] [m]
 * @property {number} fovy degrees
 *
 * @typedef {object} Preset
 * @property {string} id
 * @property {Lens} camera
 * @property {boolean} square whether only the central square is relevant
 * @property {boolean} riding whether it moves with the tool
 */

/**
 * The default view: three quarters, from beside and behind the robot, so that its left is the viewer's left. Metres in its
 * base frame, degrees. At 4:3 the arm and all places that the tool may reach are inside (tests/simulation/test_overview.py).
 * @type {Required<Pick<Lens, "pos" | "target" | "fovy">>}
 */
export const OVERVIEW = { pos: [-0.55, -0.645, 0.585], target: [0.235, -0.03, 0.12], fovy: 27.5 };
/** The aspect ratio for which views are framed; a square one for what the policies see. */
const FRAMED_ASPECT = 4 / 3;

/** The camera on the tool: metres behind the tool point along the fingers and to their side, degrees. */
const RIDING = { behind: 0.11, aside: 0.17, ahead: 0.01, fovy: 48 };

/**
 * Preset -> the scene's camera with that meaning, or one defined here. The first is the default.
 * @type {{id: string, names: string[], ours?: Lens, square?: boolean, riding?: boolean}[]}
 */
const PRESETS = [
  { id: "overview", names: ["overview"], ours: OVERVIEW },
  { id: "policy", names: ["workspace", "policy"], square: true },
  { id: "front", names: ["front"] },
  { id: "side", names: ["side"] },
  { id: "top", names: ["top"] },
  { id: "gripper", names: [], ours: { fovy: RIDING.fovy }, riding: true },
];

/** How far people may move away from what they look at [m]; farther in a scene whose own camera is farther. */
const FARTHEST = 2.2;

/** The assumed height over the table of the point that a scene's camera looks at [m]. */
const FOCUS_HEIGHT = 0.04;

/**
 * The vertical field of view [degrees] of a picture. One that is narrower than the preset is framed for shows as much from
 * left to right, and more above and below.
 * @param {Pick<Preset, "camera" | "square">} preset @param {number} aspect width by height
 */
export function fieldOfView({ camera, square }, aspect) {
  const half = Math.tan(THREE.MathUtils.degToRad(camera.fovy / 2)) * Math.max(1, (square ? 1 : FRAMED_ASPECT) / aspect);
  return THREE.MathUtils.radToDeg(2 * Math.atan(half));
}

/** @param {SceneCamera[]} cameras @returns {Preset[]} */
export function presetsOf(cameras) {
  return PRESETS.flatMap(({ id, names, ours, square = false, riding = false }) => {
    const camera = cameras.find(({ name }) => names.includes(name)) ?? ours;
    return camera ? [{ id, camera, square, riding }] : [];
  });
}

/**
 * Points a three camera as MuJoCo's (both look along -z) and returns the point to turn around.
 * @param {PerspectiveCamera} view @param {Lens} lens
 */
export function lookThrough(view, { pos = [0, 0, 0], quat = [1, 0, 0, 0], target }) {
  view.up.set(0, 0, 1);
  view.position.set(...pos);
  return target ? new THREE.Vector3(...target) : focusOf(view.position, quat);
}

/** @param {PerspectiveCamera} view @param {THREE.Vector3} target what it looks at */
export const farthestFrom = (view, target) => Math.max(FARTHEST, view.position.distanceTo(target));

/**
 * @param {PerspectiveCamera} view
 * @param {Float64Array} tool the tool point (3) [m] and its axes (9, row by row): x along the fingers, y across them
 */
export function rideOn(view, tool) {
  const point = new THREE.Vector3(tool[0], tool[1], tool[2]);
  const [along, aside] = [0, 2].map((column) => new THREE.Vector3(tool[3 + column], tool[6 + column], tool[9 + column]));
  view.position.copy(point).addScaledVector(along, -RIDING.behind).addScaledVector(aside, RIDING.aside);
  view.up.copy(aside);
  view.lookAt(point.addScaledVector(along, RIDING.ahead));
}

/** @param {THREE.Vector3} position @param {THREE.Vector4Tuple} quat */
function focusOf(position, [w, x, y, z]) {
  const forward = new THREE.Vector3(0, 0, -1).applyQuaternion(new THREE.Quaternion(x, y, z, w));
  const distance = forward.z < -0.05 ? (FOCUS_HEIGHT - position.z) / forward.z : 0.6;
  return position.clone().addScaledVector(forward, distance);
}
