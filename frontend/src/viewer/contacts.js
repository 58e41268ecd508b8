// The engine's contacts as plain numbers.

/** Pairs of geoms that touch now: [[geom, geom], ...]. */
export function touchingPairs(data) {
  return eachContact(data, (contact) => [contact.geom1, contact.geom2]);
}

/**
 * Where things touch and how hard, in the world's frame.
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

/** `frame`: three rows, the normal first; `force`: along each of them. */
function toWorld(force, frame) {
  return [0, 1, 2].map((axis) => force[0] * frame[axis] + force[1] * frame[3 + axis] + force[2] * frame[6 + axis]);
}

/** The bindings hand out copies, which are ours to free. */
function eachContact(data, read) {
  const contacts = data.contact;
  try {
    return Array.from({ length: data.ncon }, (_, index) => {
      const contact = contacts.get(index);
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
