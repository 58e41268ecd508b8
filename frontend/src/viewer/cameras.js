// Where to look from: over the robot's shoulder, and through the scene's own cameras under plain names.

import * as THREE from "three";

/** Behind and beside the robot, so that its left is the viewer's left; metres in its base frame, degrees. */
const OVERVIEW = { pos: [-0.27, -0.5, 0.64], target: [0.215, 0, 0.085], fovy: 33 };

/** Preset -> the scene's camera of that meaning, or one of ours. The first is the default. */
const PRESETS = [
  { id: "overview", label: "Overview", names: ["overview"], ours: OVERVIEW },
  { id: "policy", label: "Robot's camera", names: ["workspace", "policy"] },
  { id: "front", label: "Front", names: ["front"] },
  { id: "side", label: "Side", names: ["side"] },
  { id: "top", label: "Top", names: ["top"] },
];

/** Height over the table that a scene's camera is taken to look at [m]. */
const FOCUS_HEIGHT = 0.04;

/** @returns {[{id, label, camera: {pos, quat (w, x, y, z) or target, fovy [degrees]}}]} */
export function presetsOf(cameras) {
  return PRESETS.map(({ id, label, names, ours }) => ({
    id,
    label,
    camera: cameras.find(({ name }) => names.includes(name)) ?? ours,
  })).filter(({ camera }) => camera);
}

/** Points a three camera as MuJoCo's (both look along -z) and returns the point to turn around. */
export function lookThrough(view, { pos, quat, target, fovy }) {
  view.position.set(...pos);
  view.fov = fovy;
  return target ? new THREE.Vector3(...target) : focusOf(view.position, quat);
}

function focusOf(position, [w, x, y, z]) {
  const forward = new THREE.Vector3(0, 0, -1).applyQuaternion(new THREE.Quaternion(x, y, z, w));
  const distance = forward.z < -0.05 ? (FOCUS_HEIGHT - position.z) / forward.z : 0.6;
  return position.clone().addScaledVector(forward, distance);
}
