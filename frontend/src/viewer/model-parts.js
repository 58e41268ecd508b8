// Finds the parts of a compiled model: the tool, the finger pads, the robot, and the movable objects.

import { nameOf } from "./names.js";

/**
 * @import { MjModel } from "@mujoco/mujoco"
 * @import { PartNames } from "./manifest.d.ts"
 *
 * @typedef {object} ModelParts
 * @property {number} tool a site
 * @property {number[]} pads geoms, two for each hand; none without a gripper
 * @property {number} padThickness [m]; 0 without a gripper
 * @property {{name: string, body: number}[]} objects
 * @property {boolean[]} isRobot by geom
 * @property {boolean[]} isFinger by geom: part of a body that has a pad
 * @property {(string | null)[]} objectOf by geom
 */

/** @param {MjModel} model @param {PartNames} names @returns {ModelParts} */
export function partsOf(model, names) {
  const bodies = namesOf(model, model.name_bodyadr, model.nbody);
  const geoms = namesOf(model, model.name_geomadr, model.ngeom);
  const sites = namesOf(model, model.name_siteadr, model.nsite);
  const pads = names.pads.map((name) => place(geoms, name));
  /** @type {number[]} */
  const bodyOfGeom = Array.from(model.geom_bodyid);
  return {
    tool: place(sites, names.tool_site),
    pads,
    padThickness: pads.length > 0 ? model.geom_size[3 * pads[0] + 1] : 0,
    objects: names.objects.map((name) => ({ name, body: place(bodies, name) })),
    isFinger: bodyOfGeom.map((body) => pads.some((pad) => bodyOfGeom[pad] === body)),
    isRobot: bodyOfGeom.map((body) => bodies[body].startsWith(names.robot_prefix)),
    objectOf: bodyOfGeom.map((body) => (names.objects.includes(bodies[body]) ? bodies[body] : null)),
  };
}

/** @param {MjModel} model @param {Int32Array} addresses @param {number} count */
function namesOf(model, addresses, count) {
  return Array.from({ length: count }, (_, index) => nameOf(model, addresses, index));
}

/** @param {string[]} names @param {string} name */
function place(names, name) {
  const found = names.indexOf(name);
  if (found < 0) throw new RangeError(`the scene has no ${name}; it has ${names.filter(Boolean).join(", ")}`);
  return found;
}
