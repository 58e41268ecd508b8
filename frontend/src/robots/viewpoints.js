// The view settings: cameras, linked or free; one viewer or both; picture quality; full screen; overlays.

import { closest, part } from "../core/dom.js";
import { gettext } from "../core/i18n.js";
import { SIDES } from "../viewer/sides.js";
import { AUTOMATIC, chosenQuality, keepQuality, nextChoice } from "./quality-choice.js";

/**
 * @import { Preset } from "../viewer/cameras.js"
 * @import { Replay } from "../viewer/replay.js"
 * @import { Side } from "../viewer/sides.js"
 */

/** Both, then each alone. @type {string[]} */
const LAYOUTS = ["both", ...SIDES];

export class Viewpoints {
  #region;
  #root;
  #camera;
  #contacts;
  #quality = chosenQuality(location.search);
  /** @type {Replay | null} */
  #replay = null;
  /** @type {AbortController | null} */
  #listening = null;

  /** @param {HTMLElement} region `[data-part=stage]` @param {HTMLElement} root `[data-part=transport]` */
  constructor(region, root) {
    this.#region = region;
    this.#root = root;
    this.#camera = part(root, "camera", HTMLSelectElement);
    this.#contacts = /** @type {HTMLInputElement} */ (root.querySelector("[data-overlay=contacts]"));
    this.#showQuality();
    root.addEventListener("click", (event) => this.act(closest(event, "[data-view]")?.dataset.view));
    this.#camera.addEventListener("change", () => this.#replay?.setPreset(this.#camera.value));
    region.addEventListener("change", ({ target }) => {
      if (target instanceof HTMLSelectElement) {
        const { sideCamera } = target.dataset;
        if (sideCamera === "left" || sideCamera === "right") this.#replay?.setPreset(target.value, sideCamera);
      } else if (target instanceof HTMLInputElement && target.dataset.overlay) {
        this.#replay?.setOverlay(target.dataset.overlay, target.checked);
      }
    });
    region.dataset.layout = "both";
  }

  /** @param {Replay} replay */
  attach(replay) {
    this.detach();
    this.#replay = replay;
    this.#listening = new AbortController();
    replay.addEventListener("cameras", () => this.#showCameras(replay), { signal: this.#listening.signal });
    if (choiceOf(replay) !== this.#quality) replay.setQuality(this.#quality); // changed while the engine loaded
    const selects = [this.#camera, ...SIDES.map((side) => this.#sideSelect(side))];
    for (const select of selects) select.replaceChildren(...options(replay.presets));
    for (const box of this.#root.querySelectorAll("[data-overlay]")) {
      if (box instanceof HTMLInputElement) replay.setOverlay(box.dataset.overlay ?? "", box.checked);
    }
    this.#showCameras(replay);
  }

  /** Enables the overlay of forces, which needs the exact recordings that come after the vote. @param {boolean} allowed */
  allowForces(allowed) {
    this.#contacts.disabled = !allowed;
    this.#replay?.setOverlay("contacts", allowed && this.#contacts.checked);
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
    if (name === "overlays") toggleMenu(part(this.#root, "overlays", HTMLDetailsElement));
    if (name === "camera") this.#nextCamera();
    if (name === "quality") this.#setQuality(nextChoice(this.#quality));
  }

  /** @param {string} choice */
  #setQuality(choice) {
    keepQuality(choice);
    this.#quality = choice;
    this.#showQuality();
    this.#replay?.setQuality(choice);
  }

  #showQuality() {
    const button = part(this.#root, "quality");
    const label = gettext("Picture quality: %(quality)s", { quality: QUALITY_NAMES[this.#quality]() });
    button.dataset.quality = this.#quality;
    button.title = `${label} (Q)`;
    button.setAttribute("aria-label", label);
  }

  #nextCamera() {
    if (!this.#replay) return;
    const ids = this.#replay.presets.map(({ id }) => id);
    const { preset } = this.#replay.viewers.left;
    this.#replay.setPreset(ids[(preset === null ? 0 : ids.indexOf(preset) + 1) % ids.length]);
  }

  #nextLayout() {
    const next = LAYOUTS.indexOf(this.#region.dataset.layout ?? "") + 1;
    this.#region.dataset.layout = LAYOUTS[next % LAYOUTS.length];
  }

  async #toggleFullScreen() {
    if (document.fullscreenElement) await document.exitFullscreen();
    else await this.#region.requestFullscreen?.();
  }

  /** @param {Replay} replay */
  #showCameras({ linked, viewers, presets }) {
    part(this.#root, "link").setAttribute("aria-pressed", String(linked));
    this.#camera.value = (viewers.left.preset === viewers.right.preset && viewers.left.preset) || "";
    for (const side of SIDES) {
      const { preset } = viewers[side];
      const panel = /** @type {HTMLElement} */ (this.#region.querySelector(`[data-viewer=${side}]`));
      part(panel, "side-camera").hidden = linked;
      this.#sideSelect(side).value = preset ?? "";
      part(panel, "square").hidden = !presets.find(({ id }) => id === preset)?.square;
    }
  }

  /** @param {Side} side */
  #sideSelect(side) {
    return /** @type {HTMLSelectElement} */ (this.#region.querySelector(`[data-side-camera=${side}]`));
  }
}

/** @param {Replay} replay */
const choiceOf = ({ fixedQuality }) => fixedQuality ?? AUTOMATIC;

/** @param {HTMLDetailsElement} details */
function toggleMenu(details) {
  const tools = details.parentElement?.closest("details");
  if (tools) tools.open = true; // folded on phones
  details.open = !details.open;
  const selector = details.open ? "input:enabled, .menu-item" : "summary";
  /** @type {HTMLElement | null} */ (details.querySelector(selector))?.focus();
}

/** @type {Record<string, () => string>} */
const NAMES = {
  overview: () => gettext("Overview"),
  policy: () => gettext("What the robot sees"),
  front: () => gettext("Front"),
  side: () => gettext("Side"),
  top: () => gettext("Top"),
  gripper: () => gettext("Gripper"),
};

/** @type {Record<string, () => string>} */
const QUALITY_NAMES = {
  auto: () => gettext("automatic"),
  full: () => gettext("full"),
  lite: () => gettext("simple"),
  coarse: () => gettext("coarse"),
};

/** The options: first one for no preset, then the presets. @param {Preset[]} presets */
function options(presets) {
  const free = new Option(gettext("Turned by hand"), "");
  free.hidden = true;
  return [free, ...presets.map(({ id }) => new Option(NAMES[id](), id))];
}
