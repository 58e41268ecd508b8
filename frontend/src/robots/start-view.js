// One start of a scene, in a canvas that can be turned. The admin's builders show it; nothing is played.

import { presetsOf } from "../viewer/cameras.js";
import { Runtime } from "../viewer/runtime.js";
import { Shapes } from "../viewer/shapes.js";
import { Viewer } from "../viewer/viewer.js";

/**
 * @import { Manifest } from "../viewer/manifest.d.ts"
 * @import { Addresses } from "../viewer/runtime.js"
 */

export class StartView {
  #runtime;
  #shapes;
  #viewer;
  #frame = 0;

  /** @param {Runtime} runtime with its scene loaded @param {Manifest} manifest @param {HTMLElement} host @param {string} label */
  constructor(runtime, manifest, host, label) {
    if (!runtime.scene) throw new Error("the runtime has no scene");
    this.#runtime = runtime;
    this.#shapes = new Shapes(runtime.scene, runtime.wood);
    this.#viewer = new Viewer(host, this.#shapes, { label, quality: null });
    this.#viewer.setPreset(presetsOf(manifest.cameras)[0]);
    this.#viewer.addEventListener("lost", () => this.#viewer.revive());
    const draw = () => {
      this.#frame = requestAnimationFrame(draw);
      if (this.#viewer.needsDraw) this.#viewer.draw();
    };
    draw();
  }

  /**
   * Loads engine and scene. Rejects where the browser cannot show them.
   * @param {HTMLElement} host @param {Addresses} addresses @param {Manifest} manifest @param {string} label
   */
  static async open(host, addresses, manifest, label) {
    const runtime = new Runtime(addresses);
    try {
      await runtime.load(manifest);
      return new StartView(runtime, manifest, host, label);
    } catch (error) {
      runtime.dispose();
      throw error;
    }
  }

  /** @param {number[]} qpos (nq) @param {string} label */
  async show(qpos, label) {
    const request = { side: /** @type {const} */ ("left"), time: 0, qpos: Float64Array.from(qpos) };
    const { poses } = await this.#runtime.poses([request], []);
    this.#viewer.label = label;
    this.#viewer.canvas.setAttribute("aria-label", label);
    this.#viewer.show(poses[0]);
  }

  refreshTheme() {
    this.#viewer.refreshTheme();
  }

  dispose() {
    cancelAnimationFrame(this.#frame);
    this.#viewer.dispose();
    this.#shapes.dispose();
    this.#runtime.dispose();
  }
}
