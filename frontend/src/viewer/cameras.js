// Where to look from: over the robot's shoulder, through the scene's own cameras under plain names, and along the fingers.

import * as THREE from "three";

/** Behind and beside the robot, so that its left is the viewer's left; metres in its base frame, degrees. */
const OVERVIEW = { pos: [-0.27, -0.5, 0.64], target: [0.215, 0, 0.085], fovy: 33 };
/** Rides on the tool: metres behind the tool point along the fingers and to their side, degrees. */
const RIDING = { behind: 0.11, aside: 0.17, ahead: 0.01, fovy: 48 };

/** Preset -> the scene's camera of that meaning, or one of ours. The first is the default. */
const PRESETS = [
  { id: "overview", names: ["overview"], ours: OVERVIEW },
  { id: "policy", names: ["workspace", "policy"], square: true },
  { id: "front", names: ["front"] },
  { id: "side", names: ["side"] },
  { id: "top", names: ["top"] },
  { id: "gripper", names: [], ours: { fovy: RIDING.fovy }, riding: true },
];

/** Height over the table that a scene's camera is taken to look at [m]. */
const FOCUS_HEIGHT = 0.04;

/**
 * @returns {{id: string, camera: object, square: boolean, riding: boolean}[]} `camera`: {pos, quat (w, x, y, z) or
 *   target, fovy [degrees]}; `square`: what counts is the square in the middle; `riding`: it moves with the tool
 */
export function presetsOf(cameras) {
  return PRESETS.map(({ id, names, ours, square = false, riding = false }) => ({
    id,
    camera: cameras.find(({ name }) => names.includes(name)) ?? ours,
    square,
    riding,
  })).filter(({ camera }) => camera);
}

/** Points a three camera as MuJoCo's (both look along -z) and returns the point to turn around. */
export function lookThrough(view, { pos, quat, target, fovy }) {
  view.up.set(0, 0, 1);
  view.position.set(...pos);
  view.fov = fovy;
  return target ? new THREE.Vector3(...target) : focusOf(view.position, quat);
}

/** @param {Float64Array} tool the tool point (3) [m] and its axes (9, row by row): x along the fingers, y across them */
export function rideOn(view, tool) {
  const point = new THREE.Vector3(tool[0], tool[1], tool[2]);
  const [along, aside] = [0, 2].map((column) => new THREE.Vector3(tool[3 + column], tool[6 + column], tool[9 + column]));
  view.position.copy(point).addScaledVector(along, -RIDING.behind).addScaledVector(aside, RIDING.aside);
  view.up.copy(aside);
  view.lookAt(point.addScaledVector(along, RIDING.ahead));
}

function focusOf(position, [w, x, y, z]) {
  const forward = new THREE.Vector3(0, 0, -1).applyQuaternion(new THREE.Quaternion(x, y, z, w));
  const distance = forward.z < -0.05 ? (FOCUS_HEIGHT - position.z) / forward.z : 0.6;
  return position.clone().addScaledVector(forward, distance);
}
