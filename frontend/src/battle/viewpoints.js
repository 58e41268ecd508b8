// From where and how much is seen: cameras, linked or free; one picture or both; full screen; what is drawn over them.

import { gettext } from "../i18n.js";
import { SIDES } from "../viewer/replay.js";
import { part } from "./part.js";

/** Both, then each alone. */
const LAYOUTS = ["both", ...SIDES];

export class Viewpoints {
  #region;
  #root;
  #replay = null;
  #listening = null;

  /** @param {HTMLElement} region `[data-part=stage]` @param {HTMLElement} root `[data-part=transport]` */
  constructor(region, root) {
    this.#region = region;
    this.#root = root;
    root.addEventListener("click", ({ target }) => this.act(target.closest("[data-view]")?.dataset.view));
    part(root, "camera").addEventListener("change", ({ target }) => this.#replay?.setPreset(target.value));
    region.addEventListener("change", ({ target }) => {
      if (target.dataset.sideCamera) this.#replay?.setPreset(target.value, target.dataset.sideCamera);
      if (target.dataset.overlay) this.#replay?.setOverlay(target.dataset.overlay, target.checked);
    });
    region.dataset.layout = "both";
  }

  /** @param {import("../viewer/replay.js").Replay} replay */
  attach(replay) {
    this.detach();
    this.#replay = replay;
    this.#listening = new AbortController();
    replay.addEventListener("cameras", () => this.#showCameras(), { signal: this.#listening.signal });
    for (const select of [part(this.#root, "camera"), ...this.#sideSelects()]) select.replaceChildren(...options(replay.presets));
    for (const box of this.#root.querySelectorAll("[data-overlay]")) replay.setOverlay(box.dataset.overlay, box.checked);
    this.#showCameras();
  }

  /** Forces are known of exact recordings only, which come with the vote. */
  allowForces(allowed) {
    const box = this.#root.querySelector("[data-overlay=contacts]");
    box.disabled = !allowed;
    this.#replay?.setOverlay("contacts", allowed && box.checked);
    part(this.#root, "forces-scale").hidden = !allowed;
    part(this.#root, "forces-later").hidden = allowed;
  }

  detach() {
    this.#listening?.abort();
    this.#replay = null;
  }

  /** @param {string | undefined} name */
  act(name) {
    if (name === "layout") this.#nextLayout();
    if (name === "fullscreen") this.#toggleFullScreen();
    if (name === "link") this.#replay?.setLinked(!this.#replay.linked);
    if (name === "overlays") toggleMenu(part(this.#root, "overlays"));
    if (name === "camera") this.#nextCamera();
  }

  #nextCamera() {
    if (!this.#replay) return;
    const ids = this.#replay.presets.map(({ id }) => id);
    this.#replay.setPreset(ids[(ids.indexOf(this.#replay.viewers.left.preset) + 1) % ids.length]);
  }

  #nextLayout() {
    const { layout } = this.#region.dataset;
    this.#region.dataset.layout = LAYOUTS[(LAYOUTS.indexOf(layout) + 1) % LAYOUTS.length];
  }

  async #toggleFullScreen() {
    if (document.fullscreenElement) await document.exitFullscreen();
    else await this.#region.requestFullscreen?.();
  }

  #showCameras() {
    const { linked, viewers, presets } = this.#replay;
    part(this.#root, "link").setAttribute("aria-pressed", String(linked));
    select(part(this.#root, "camera"), viewers.left.preset === viewers.right.preset ? viewers.left.preset : null);
    for (const [index, side] of SIDES.entries()) {
      const panel = this.#region.querySelector(`[data-viewer=${side}]`);
      part(panel, "side-camera").hidden = linked;
      select(this.#sideSelects()[index], viewers[side].preset);
      part(panel, "square").hidden = !presets.find(({ id }) => id === viewers[side].preset)?.square;
    }
  }

  #sideSelects() {
    return [...this.#region.querySelectorAll("[data-side-camera]")];
  }
}

export function toggleMenu(details) {
  details.open = !details.open;
  if (details.open) details.querySelector("input:enabled, .menu-item")?.focus();
  else details.querySelector("summary").focus();
}

const NAMES = {
  overview: () => gettext("Overview"),
  policy: () => gettext("What the robot sees"),
  front: () => gettext("Front"),
  side: () => gettext("Side"),
  top: () => gettext("Top"),
  gripper: () => gettext("Gripper"),
};

/** The presets, and first what says that none of them is taken. */
function options(presets) {
  const free = new Option(gettext("Turned by hand"), "");
  free.hidden = true;
  return [free, ...presets.map(({ id }) => new Option(NAMES[id](), id))];
}

function select(list, id) {
  list.value = id ?? "";
}
