// MuJoCo in a module Worker of its own, whose response may carry a looser script policy than the page's.
// It holds one compiled model and one MjData per side, and answers {id, op, ...} with {id, result} or {id, error}.

import loadMujoco from "@mujoco/mujoco";

import { describeScene } from "./describe.js";
import { nameOf } from "./names.js";

let engine = null;
let model = null;
const dataOf = new Map();

const operations = {
  async boot({ wasmUrl }) {
    engine = await loadMujoco({ locateFile: () => wasmUrl });
    return { version: engine.mj_versionString() };
  },

  /** @param assets [{name, bytes}]: the scene's files by the bare names its XML uses */
  load({ xml, assets }) {
    const files = new engine.MjVFS();
    try {
      for (const { name, bytes } of assets) files.addBuffer(name, bytes);
      model = engine.MjModel.from_xml_string(xml, files);
    } finally {
      files.delete();
    }
    return describeScene(model);
  },

  /** requests [{side, qpos}] -> [{side, xpos (3 per geom) [m], xmat (9 per geom, row by row)}] */
  poses({ requests }) {
    return requests.map(({ side, qpos }) => {
      const data = place(side, qpos);
      return { side, xpos: Float64Array.from(data.geom_xpos), xmat: Float64Array.from(data.geom_xmat) };
    });
  },

  /** Positions by name, for people who debug and for tests: {bodies: {name: [x, y, z]}, geoms: {...}} */
  inspect({ qpos }) {
    const data = place("inspect", qpos);
    return {
      bodies: named(model.name_bodyadr, data.xpos),
      geoms: named(model.name_geomadr, data.geom_xpos),
    };
  },
};

function place(side, qpos) {
  if (!dataOf.has(side)) dataOf.set(side, new engine.MjData(model));
  const data = dataOf.get(side);
  data.qpos.set(qpos);
  engine.mj_kinematics(model, data);
  return data;
}

function named(addresses, positions) {
  const found = {};
  for (let i = 0; i < addresses.length; i += 1) {
    const name = nameOf(model, addresses, i);
    if (name) found[name] = Array.from(positions.subarray(3 * i, 3 * i + 3));
  }
  return found;
}

/** The buffers of fresh typed arrays in a result, to hand over instead of copying. */
function buffersIn(value, found = []) {
  if (ArrayBuffer.isView(value)) found.push(value.buffer);
  else if (value && typeof value === "object") Object.values(value).forEach((each) => buffersIn(each, found));
  return found;
}

self.addEventListener("message", async ({ data: { id, op, ...args } }) => {
  try {
    const result = await operations[op](args);
    self.postMessage({ id, result }, buffersIn(result));
  } catch (error) {
    self.postMessage({ id, error: String(error?.message ?? error) });
  }
});
