// The page's interface to the MuJoCo worker: starts it, loads a scene from its manifest, and requests poses.

/**
 * @import { EngineHost, PoseRequest, SceneDescription } from "./engine-host.js"
 * @import { Manifest } from "./manifest.d.ts"
 * @import { Side } from "./sides.js"
 * @import { Track } from "./view.js"
 * @typedef {{resolve: (result: any) => void, reject: (error: Error) => void}} Waiting `any`: what it is depends on the question
 */

export class RuntimeFailure extends Error {}

/** A file of the scene could not be loaded; the message is its name. */
export class MissingFile extends RuntimeFailure {}

export class Runtime {
  #worker;
  /** @type {Map<number, Waiting>} */
  #waiting = new Map();
  #lastId = 0;
  /** @type {string | null} */
  engineVersion = null;
  /** @type {SceneDescription | null} */
  scene = null;

  /** @param {{workerUrl: string, wasmUrl: string}} addresses of the static files */
  constructor({ workerUrl, wasmUrl }) {
    this.#worker = new Worker(workerUrl, { type: "module" });
    this.#worker.addEventListener("message", ({ data }) => this.#settle(data));
    this.#worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#failAll(event.message || "its script could not be loaded");
    });
    this.booted = this.#boot(new URL(wasmUrl, document.baseURI).href);
    this.booted.catch(() => {});
  }

  /** @param {string} wasmUrl */
  async #boot(wasmUrl) {
    /** @type {{version: string}} */
    const { version } = await this.#post("boot", { wasmUrl }, []);
    this.engineVersion = version;
  }

  /**
   * Fetches and compiles a scene, with engine and files loading concurrently. Resolves to its description.
   * @param {Manifest} manifest
   */
  async load(manifest) {
    const [xml, assets] = await Promise.all([
      fetchBytes(manifest.xml_url),
      Promise.all(manifest.assets.map(async ({ name, url }) => ({ name, bytes: await fetchBytes(url) }))),
      this.booted,
    ]);
    this.scene = await this.#ask(
      "load",
      { xml: new TextDecoder().decode(xml), assets, names: manifest, ramp: rampOf(manifest) },
      assets.map(({ bytes }) => bytes.buffer),
    );
    return this.scene;
  }

  /** @param {PoseRequest[]} requests @param {string[]} extras see EngineHost */
  poses(requests, extras) {
    return this.#ask("poses", { requests, extras });
  }

  /**
   * @param {Side} side
   * @param {ArrayBuffer | null} buffer `replay.bin` of what the side shows; null if unknown
   */
  record(side, buffer) {
    return this.#ask("record", { side, buffer });
  }

  /** @param {Track} track */
  trace(track) {
    const { nq } = this.scene ?? { nq: 0 };
    const rows = new Float64Array(track.count * nq);
    for (let row = 0; row < track.count; row += 1) rows.set(track.qpos(row), row * nq);
    return this.#ask("trace", { rows, rate: track.rate }, [rows.buffer]);
  }

  /** @param {ArrayBuffer} buffer `replay.bin` */
  resimulateSteps(buffer) {
    return this.#ask("resimulateSteps", { buffer });
  }

  /** @param {ArrayBuffer} buffer `replay.bin` */
  resimulateEpisode(buffer) {
    return this.#ask("resimulateEpisode", { buffer });
  }

  census() {
    return this.#ask("census", undefined);
  }

  /** @param {Float64Array} qpos */
  inspect(qpos) {
    return this.#ask("inspect", { qpos });
  }

  dispose() {
    this.#worker.terminate();
    this.#failAll("closed");
  }

  /**
   * @template {keyof EngineHost} Op
   * @param {Op} op @param {Parameters<EngineHost[Op]>[0]} args @param {Transferable[]} transfer
   * @returns {Promise<Awaited<ReturnType<EngineHost[Op]>>>}
   */
  #ask(op, args, transfer = []) {
    return this.#post(op, args, transfer);
  }

  /** @param {string} op @param {unknown} args @param {Transferable[]} transfer @returns {Promise<any>} see `Waiting` */
  #post(op, args, transfer) {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, op, args }, transfer);
    });
  }

  /** @param {{id: number, result?: unknown, error?: string}} answer */
  #settle({ id, result, error }) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (!waiting) return;
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new RuntimeFailure(error));
  }

  /** @param {string} reason */
  #failAll(reason) {
    for (const { reject } of this.#waiting.values()) reject(new RuntimeFailure(reason));
    this.#waiting.clear();
  }
}

/** @param {Manifest} manifest @returns {import("./physics.js").Ramp} */
function rampOf({ ramp, control_hz }) {
  return { ...ramp, period: 1 / control_hz };
}

/** @param {string} url */
async function fetchBytes(url) {
  try {
    const response = await fetch(url);
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
  } catch {
    // No response or an incomplete one also counts as a missing file.
  }
  throw new MissingFile(url.slice(url.lastIndexOf("/") + 1));
}
