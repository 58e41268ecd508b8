// MuJoCo in a module Worker, whose response may have a looser script policy than the page.
// It answers {id, op, args} with {id, result} or {id, error}. `op` is "boot", or a method of EngineHost.

import loadMujoco from "@mujoco/mujoco";

import { EngineHost } from "./engine-host.js";

/** @type {EngineHost | null} */
let host = null;

/** @param {{wasmUrl: string}} address of the engine */
async function boot({ wasmUrl }) {
  const engine = await loadMujoco({ locateFile: () => wasmUrl });
  host = new EngineHost(engine);
  return { version: engine.mj_versionString() };
}

/** @param {keyof EngineHost} op @param {unknown} args */
function ask(op, args) {
  if (!host || !Object.hasOwn(EngineHost.prototype, op)) throw new RangeError(`unknown operation ${op}`);
  const operation = /** @type {(args: unknown) => unknown} */ (host[op]);
  return operation.call(host, args);
}

/**
 * The buffers of fresh typed arrays in a result, to hand over instead of copying.
 * @param {unknown} value @returns {ArrayBuffer[]}
 */
function buffersIn(value) {
  if (ArrayBuffer.isView(value)) return [/** @type {ArrayBuffer} */ (value.buffer)];
  return value && typeof value === "object" ? Object.values(value).flatMap(buffersIn) : [];
}

self.addEventListener("message", async ({ data: { id, op, args } }) => {
  try {
    const result = await (op === "boot" ? boot(args) : ask(op, args));
    self.postMessage({ id, result }, { transfer: buffersIn(result) });
  } catch (error) {
    self.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
});
