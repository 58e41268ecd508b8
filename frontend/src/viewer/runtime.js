// The page's end of the MuJoCo worker: starts it, loads a scene from its manifest, asks it for poses.

export class RuntimeFailure extends Error {}

/** A file of the scene that did not come; the message is its name. */
export class MissingFile extends RuntimeFailure {}

export class Runtime {
  #worker;
  #waiting = new Map();
  #lastId = 0;

  /** @param {{workerUrl: string, wasmUrl: string}} addresses of the static files */
  constructor({ workerUrl, wasmUrl }) {
    this.engineVersion = null;
    this.scene = null;
    this.#worker = new Worker(workerUrl, { type: "module" });
    this.#worker.addEventListener("message", ({ data }) => this.#settle(data));
    this.#worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#failAll(event.message || "its script could not be loaded");
    });
    this.booted = this.#ask("boot", { wasmUrl: new URL(wasmUrl, document.baseURI).href }).then(({ version }) => {
      this.engineVersion = version;
    });
    this.booted.catch(() => {});
  }

  /** Fetches and compiles a scene; engine and files load at the same time. Resolves to its description. */
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

  /** See backstage.js for what is asked and answered. */
  poses(requests, extras = []) {
    return this.#ask("poses", { requests, extras });
  }

  /** @param {ArrayBuffer | null} buffer `replay.bin` of what the side shows from now on; null: not known */
  record(side, buffer) {
    return this.#ask("record", { side, buffer });
  }

  /** @param {import("./view.js").Track} track @returns {Promise<import("./trace.js").Trace>} */
  trace(track) {
    const rows = new Float64Array(track.count * this.scene.nq);
    for (let row = 0; row < track.count; row += 1) rows.set(track.qpos(row), row * this.scene.nq);
    return this.#ask("trace", { rows, rate: track.rate }, [rows.buffer]);
  }

  rehearse(buffer) {
    return this.#ask("rehearse", { buffer });
  }

  replayWhole(buffer) {
    return this.#ask("replayWhole", { buffer });
  }

  census() {
    return this.#ask("census", {});
  }

  inspect(qpos) {
    return this.#ask("inspect", { qpos });
  }

  dispose() {
    this.#worker.terminate();
    this.#failAll("closed");
  }

  #ask(op, args, transfer = []) {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, op, ...args }, transfer);
    });
  }

  #settle({ id, result, error }) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (!waiting) return;
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new RuntimeFailure(error));
  }

  #failAll(reason) {
    for (const { reject } of this.#waiting.values()) reject(new RuntimeFailure(reason));
    this.#waiting.clear();
  }
}

function rampOf({ ramp, control_hz }) {
  return { ...ramp, period: 1 / control_hz };
}

async function fetchBytes(url) {
  try {
    const response = await fetch(url);
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
  } catch {
    // No answer at all, or one that broke off: the file is missing as well.
  }
  throw new MissingFile(url.slice(url.lastIndexOf("/") + 1));
}
