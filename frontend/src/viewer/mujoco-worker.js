// MuJoCo in a module Worker of its own, whose response may carry a looser script policy than the page's.
// It answers {id, op, ...} with {id, result} or {id, error}. What it can do is in `backstage.js`.

import loadMujoco from "@mujoco/mujoco";

import { Backstage } from "./backstage.js";

let backstage = null;

const operations = {
  async boot({ wasmUrl }) {
    const engine = await loadMujoco({ locateFile: () => wasmUrl });
    backstage = new Backstage(engine);
    return { version: engine.mj_versionString() };
  },
};

/** The buffers of fresh typed arrays in a result, to hand over instead of copying. */
function buffersIn(value, found = []) {
  if (ArrayBuffer.isView(value)) found.push(value.buffer);
  else if (value && typeof value === "object") Object.values(value).forEach((each) => buffersIn(each, found));
  return found;
}

self.addEventListener("message", async ({ data: { id, op, ...args } }) => {
  try {
    const result = await (op in operations ? operations[op](args) : backstage.answer(op, args));
    self.postMessage({ id, result }, buffersIn(result));
  } catch (error) {
    self.postMessage({ id, error: String(error?.message ?? error) });
  }
});
