// The page's interface to the MuJoCo worker: starts it, loads a scene from its manifest, and requests poses.

import { controlOf } from "./recording.js";

/**
 * @import { TextureDescription } from "./describe.js"
 * @import { EngineHost, PoseRequest, SceneDescription } from "./engine-host.js"
 * @import { Manifest } from "./manifest.d.ts"
 * @import { Side } from "./sides.js"
 * @import { Track } from "./view.js"
 * @typedef {{workerUrl: string, wasmUrl: string, wasmBytes: number}} Addresses of the static files; `wasmBytes`: the engine's size
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
  #onProgress;
  #wasmBytes;
  /** Bytes of the engine, and of the scene's files, that are here. */
  #here = { engine: 0, files: 0 };
  #fileBytes = 0;
  /** @type {string | null} */
  engineVersion = null;
  /** @type {SceneDescription | null} */
  scene = null;
  /** The grain of tables; null before the engine has started. @type {TextureDescription | null} */
  wood = null;

  /**
   * @param {Addresses} addresses
   * @param {(share: number) => void} onProgress the share of all bytes that are here, as soon as all are known
   */
  constructor({ workerUrl, wasmUrl, wasmBytes }, onProgress = () => {}) {
    this.#onProgress = onProgress;
    this.#wasmBytes = wasmBytes;
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
    /** @type {{version: string, wood: TextureDescription}} */
    const { version, wood } = await this.#post("boot", { wasmUrl }, []);
    this.engineVersion = version;
    this.wood = wood;
  }

  /**
   * Fetches and compiles a scene, with engine and files loading concurrently. Resolves to its description.
   * @param {Manifest} manifest
   */
  async load(manifest) {
    this.#fileBytes = manifest.assets.reduce((sum, { bytes }) => sum + bytes, 0);
    const [xml, assets] = await Promise.all([
      fetchBytes(manifest.xml_url),
      Promise.all(manifest.assets.map((asset) => this.#fetchAsset(asset))),
      this.booted,
    ]);
    this.scene = await this.#ask(
      "load",
      { xml: new TextDecoder().decode(xml), assets, names: manifest, control: controlOf(manifest) },
      assets.map(({ bytes }) => bytes.buffer),
    );
    return this.scene;
  }

  /** @param {Manifest["assets"][number]} asset */
  async #fetchAsset({ name, url }) {
    const bytes = await fetchBytes(url);
    this.#note({ files: this.#here.files + bytes.length });
    return { name, bytes };
  }

  /** @param {Partial<{engine: number, files: number}>} here */
  #note(here) {
    Object.assign(this.#here, here);
    const all = this.#wasmBytes + this.#fileBytes;
    if (this.#wasmBytes > 0 && this.#fileBytes > 0) this.#onProgress(Math.min(1, (this.#here.engine + this.#here.files) / all));
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

  /** @param {{id: number, result?: unknown, error?: string} | {loaded: number}} answer */
  #settle(answer) {
    if ("loaded" in answer) return this.#note({ engine: answer.loaded });
    const { id, result, error } = answer;
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
