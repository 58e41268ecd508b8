// MuJoCo in a module Worker, whose response may have a looser script policy than the page.
// It answers {id, op, args} with {id, result} or {id, error}. `op` is "boot", or a method of EngineHost. While it boots it
// sends {loaded}: how many bytes of the engine are here.

import loadMujoco from "@mujoco/mujoco";

import { EngineHost } from "./engine-host.js";
import { woodGrain } from "./wood.js";

/** @type {EngineHost | null} */
let host = null;

/** Computes the table's wood while the engine is on its way. @param {{wasmUrl: string}} address of the engine */
async function boot({ wasmUrl }) {
  const response = await fetch(wasmUrl, { credentials: "same-origin" });
  if (!response.ok) throw new Error(`its file: ${response.status}`);
  const counted = count(response.clone());
  /** @type {Promise<import("@mujoco/mujoco").MainModule>} */
  const loading = new Promise((resolve, reject) => {
    /** @param {WebAssembly.Imports} imports @param {(instance: WebAssembly.Instance, module: WebAssembly.Module) => void} use */
    const instantiateWasm = (imports, use) => {
      // Of a response as it came the browser keeps the compiled code.
      WebAssembly.instantiateStreaming(response, imports).then(({ instance, module }) => use(instance, module), reject);
      return {};
    };
    loadMujoco({ instantiateWasm }).then(resolve, reject);
  });
  const wood = woodGrain();
  const engine = await loading;
  await counted;
  host = new EngineHost(engine);
  return { version: engine.mj_versionString(), wood };
}

/** Tells how much of a response has come. @param {Response} response */
async function count({ body }) {
  let loaded = 0;
  const reader = body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    loaded += part.value.length;
    self.postMessage({ loaded });
  }
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
