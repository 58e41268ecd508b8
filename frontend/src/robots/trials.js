// The admin's pages on which moderators try a task or a scene: shows a start in the viewer, and looks again while a worker
// is at something, without touching what is being filled in.

import { part } from "../core/dom.js";
import { StartView } from "./start-view.js";

/** Between two looks [ms]. */
const LOOK_AGAIN = 1500;
const TOLD = "[data-told]";

/** @param {HTMLElement} stage */
function startOf(stage) {
  const { qpos = "", label = "" } = stage.dataset;
  return { qpos: /** @type {number[]} */ (qpos ? JSON.parse(qpos) : []), label };
}

class Preview {
  #stage;
  /** @type {Promise<StartView> | null} */
  #view = null;
  #manifest = "";

  /** @param {HTMLElement} stage */
  constructor(stage) {
    this.#stage = stage;
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#refreshTheme());
    const themes = new MutationObserver(() => this.#refreshTheme());
    themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /** Shows the start that the page tells of; its picture stays where the viewer does not work. */
  async show() {
    const { qpos, label } = startOf(this.#stage);
    if (qpos.length === 0) return;
    try {
      await this.#leaveOther();
      this.#view ??= this.#open(label);
      await (await this.#view).show(qpos, label);
      this.#stage.dataset.live = "";
    } catch (error) {
      console.warn(error);
      this.#view = null;
      delete this.#stage.dataset.live;
    }
  }

  /** A scene that was changed has another manifest. */
  async #leaveOther() {
    const { manifest = "" } = this.#stage.dataset;
    if (this.#view && manifest !== this.#manifest) {
      (await this.#view).dispose();
      this.#view = null;
    }
    this.#manifest = manifest;
  }

  /** @param {string} label */
  async #open(label) {
    const { manifest = "", worker = "", wasm = "" } = this.#stage.dataset;
    const answer = await fetch(manifest);
    if (!answer.ok) throw new Error(`${manifest}: ${answer.status}`);
    const addresses = { workerUrl: worker, wasmUrl: wasm, wasmBytes: 0 };
    return StartView.open(part(this.#stage, "screen"), addresses, await answer.json(), label);
  }

  async #refreshTheme() {
    (await this.#view)?.refreshTheme();
  }
}

/** Takes over what another look at the page tells. @param {Document} fresh */
function take(fresh) {
  for (const old of document.querySelectorAll(TOLD)) {
    const name = /** @type {HTMLElement} */ (old).dataset.told;
    const other = fresh.querySelector(`[data-told="${name}"]`);
    if (other && !other.isEqualNode(old)) old.replaceWith(document.adoptNode(other));
  }
}

/** @param {HTMLElement} stage @param {HTMLElement} fresh @returns whether another start is told of */
function takeStart(stage, fresh) {
  const changed = stage.dataset.qpos !== fresh.dataset.qpos || stage.dataset.manifest !== fresh.dataset.manifest;
  for (const name of ["qpos", "label", "manifest"]) stage.dataset[name] = fresh.dataset[name] ?? "";
  return changed;
}

/** @param {HTMLElement} root @param {Preview} preview */
async function lookAgain(root, preview) {
  const answer = await fetch(window.location.href);
  if (!answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const other = fresh.querySelector("[data-page=trials]");
  if (!(other instanceof HTMLElement)) return;
  take(fresh);
  root.dataset.awaited = other.dataset.awaited ?? "";
  if (takeStart(part(root, "stage"), part(other, "stage"))) await preview.show();
}

const root = document.querySelector("[data-page=trials]");
if (root instanceof HTMLElement) {
  const preview = new Preview(part(root, "stage"));
  preview.show();
  const look = async () => {
    if (root.dataset.awaited && !document.hidden) await lookAgain(root, preview).catch((error) => console.warn(error));
    if (root.dataset.awaited) setTimeout(look, LOOK_AGAIN);
  };
  setTimeout(look, LOOK_AGAIN);
}
