// The engine's contacts as plain arrays.

/**
 * @import { MainModule, MjContact, MjData, MjModel } from "@mujoco/mujoco"
 */

/** Pairs of geoms in contact. @param {MjData} data @returns {[number, number][]} */
export function touchingPairs(data) {
  return eachContact(data, (contact) => [contact.geom1, contact.geom2]);
}

/**
 * The contact points and forces in the world frame.
 * @param {MainModule} engine @param {MjModel} model @param {MjData} data
 * @returns {Float64Array} 6 per contact: position [m], force on the second geom [N]
 */
export function contactForces(engine, model, data) {
  const buffer = new engine.DoubleBuffer(6);
  try {
    const rows = eachContact(data, (contact, index) => {
      engine.mj_contactForce(model, data, index, buffer);
      return [...contact.pos, ...toWorld(buffer.GetView(), contact.frame)];
    });
    return Float64Array.from(rows.flat());
  } finally {
    buffer.delete();
  }
}

/**
 * `frame`: three rows, the normal first; `force`: along each of them.
 * @param {Float64Array} force @param {Float64Array} frame
 */
function toWorld(force, frame) {
  return [0, 1, 2].map((axis) => force[0] * frame[axis] + force[1] * frame[3 + axis] + force[2] * frame[6 + axis]);
}

/**
 * Calls `read` for each contact. The bindings return copies, which the caller must free.
 * @template T @param {MjData} data @param {(contact: MjContact, index: number) => T} read @returns {T[]}
 */
function eachContact(data, read) {
  const contacts = data.contact;
  try {
    return Array.from({ length: data.ncon }, (_, index) => {
      const contact = /** @type {MjContact} */ (contacts.get(index));
      try {
        return read(contact, index);
      } finally {
        contact.delete();
      }
    });
  } finally {
    contacts.delete();
  }
}
