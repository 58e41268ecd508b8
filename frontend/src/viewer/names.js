// Reads the names in a compiled model. `mj_id2name` of these bindings returns nonsense for unnamed objects.

const decoder = new TextDecoder();

/**
 * @param {import("@mujoco/mujoco").MjModel} model @param {Int32Array} addresses one of the model's `name_...adr`
 * @param {number} index @returns {string} "" if it has no name
 */
export function nameOf(model, addresses, index) {
  const from = addresses[index];
  const end = model.names.indexOf(0, from);
  return decoder.decode(Uint8Array.from(model.names.subarray(from, end)));
}
