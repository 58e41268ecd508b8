// The tools around the two viewers: playback, cameras, overlays, the panel and captures.

import { closest, part } from "../core/dom.js";
import { gettext } from "../core/i18n.js";
import { nameOf } from "../core/phase.js";
import { SIDES } from "../viewer/sides.js";
import { fileName, NoRecorder, save, takeClip, takePicture } from "./capture.js";
import { Insight } from "./insight.js";
import { SIDE_NAMES } from "./sides.js";
import { Transport } from "./transport.js";
import { saveVideo } from "./videos.js";
import { Viewpoints } from "./viewpoints.js";

/**
 * @import { BattleJson } from "../core/wire.d.ts"
 * @import { Mark } from "./transport.js"
 * @import { Stage } from "./stage.js"
 */

export class Tools {
  #root;
  #region;
  #stage;
  /** @type {AbortController | null} */
  #filming = null;
  #told = "";
  /** @type {BattleJson | null} */
  #battle = null;

  /** @param {HTMLElement} root of the page @param {Stage} stage */
  constructor(root, stage) {
    this.#root = root;
    this.#region = part(root, "stage");
    this.#stage = stage;
    const bar = part(root, "transport");
    this.transport = new Transport(bar);
    this.viewpoints = new Viewpoints(this.#region, bar);
    this.insight = new Insight(part(root, "insight"), part(bar, "insight-toggle"), stage);
    bar.addEventListener("click", (event) => this.#press(event));
    stage.addEventListener("insight", () => this.#showPlaces());
    stage.addEventListener("exact", () => this.viewpoints.allowForces(stage.exactness === "here"));
    stage.addEventListener("turn", () => this.#tellMoment());
    closeMenusOutside(bar);
    foldOnPhones(part(bar, "tools", HTMLDetailsElement));
  }

  /** Connects to the viewers of the stage; called again after it has created new ones. */
  attach() {
    const { replay } = this.#stage;
    if (!replay) return;
    this.transport.attach(replay.clock);
    this.viewpoints.attach(replay);
    this.viewpoints.allowForces(this.#stage.exactness === "here");
    this.insight.attach(replay.clock);
    replay.clock.addEventListener("change", () => this.#tellMoment());
    this.#showPlaces();
  }

  /** @param {BattleJson} battle */
  render(battle) {
    this.#battle = battle;
    this.insight.tellSecret(battle.secret);
    for (const button of this.#root.querySelectorAll("[data-save=video]")) {
      if (button instanceof HTMLElement) button.hidden = battle.status !== "voted";
    }
  }

  async saveImage() {
    const { replay, turn, moment } = this.#stage;
    if (!replay || !turn || !moment) return;
    save(await takePicture(replay, this.#titles(turn)), `${fileName(turn.instruction)}.png`);
    this.#note(gettext("Saved."));
  }

  /** Films the recording once, until the button is pressed again. */
  async saveClip() {
    if (this.#filming) return this.#filming.abort();
    const { replay, turn, moment } = this.#stage;
    if (!replay || !turn || !moment?.settled) return;
    this.#filming = new AbortController();
    this.#showFilming(gettext("Recording: press again to stop."));
    try {
      save(await takeClip(replay, this.#titles(turn), this.#filming.signal), `${fileName(turn.instruction)}.webm`);
      this.#showFilming(gettext("Saved."));
    } catch (error) {
      if (!(error instanceof NoRecorder)) throw error;
      this.#showFilming(gettext("This browser cannot record WebM clips."));
    } finally {
      this.#filming = null;
      part(this.#root, "clip").setAttribute("aria-pressed", "false");
    }
  }

  /** Has the server film one side of the turn that is shown. @param {"left" | "right"} side */
  async saveVideo(side) {
    const { turn } = this.#stage;
    if (!turn) return;
    await saveVideo(turn[side].episode_id, `${fileName(turn.instruction)}-${side}.mp4`, (text) => this.#note(text));
  }

  /** @param {Event} event */
  #press(event) {
    if (closest(event, "[data-view=insight]")) this.insight.toggle();
    const { save: what, side } = closest(event, "[data-save]")?.dataset ?? {};
    if (what === "image") this.saveImage();
    if (what === "clip") this.saveClip();
    if (what === "video") this.saveVideo(side === "left" ? "left" : "right");
  }

  /** @param {{instruction: string}} turn */
  #titles({ instruction }) {
    const [left, right] = [this.#battle?.left_model ?? "???", this.#battle?.right_model ?? "???"];
    return { instruction, left: nameOf(left) ?? SIDE_NAMES.left, right: nameOf(right) ?? SIDE_NAMES.right };
  }

  /** @param {string} text */
  #note(text) {
    part(this.#root, "save-note").textContent = text;
  }

  /** @param {string} text */
  #showFilming(text) {
    part(this.#root, "clip").setAttribute("aria-pressed", String(this.#filming !== null));
    this.#note(text);
  }

  #showPlaces() {
    if (!this.#stage.replay) return;
    this.transport.setPlaces(placesOf(this.#stage.insight));
  }

  /** Announces the current moment when the record or the playback state changes. */
  #tellMoment() {
    const { moment, replay } = this.#stage;
    const told = JSON.stringify([moment?.turnId, moment?.record, moment?.settled, replay?.clock.playing]);
    if (told === this.#told) return;
    this.#told = told;
    this.#region.dispatchEvent(new CustomEvent("viewer:moment", { detail: moment, bubbles: true }));
  }
}

/**
 * First touch, grasp and divergence of a turn: the earlier of both sides as jumps, each side's own as marks.
 * @param {Stage["insight"]} insight
 */
function placesOf(insight) {
  /** @type {Record<string, number>} */
  const jumps = {};
  /** @type {Mark[]} */
  const marks = [];
  if (!insight) return { jumps, marks };
  for (const kind of /** @type {const} */ (["touch", "grasp"])) {
    for (const side of SIDES) {
      const time = insight.traces[side]?.[kind]?.time;
      if (time === undefined) continue;
      marks.push({ kind, side, time });
      jumps[kind] = Math.min(jumps[kind] ?? time, time);
    }
  }
  if (insight.divergence !== null) {
    jumps.divergence = insight.divergence;
    marks.push({ kind: "divergence", side: "both", time: insight.divergence });
  }
  return { jumps, marks };
}

/** Closes a menu when it loses focus or on Escape. @param {HTMLElement} root */
function closeMenusOutside(root) {
  const menus = () => /** @type {NodeListOf<HTMLDetailsElement>} */ (root.querySelectorAll("details.menu[open]"));
  document.addEventListener("pointerdown", ({ target }) => {
    for (const menu of menus()) if (!(target instanceof Node && menu.contains(target))) menu.open = false;
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of menus()) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    }
  });
}

/** As in phone.css. */
const ON_A_PHONE = "(max-width: 640px), (max-height: 500px)";

/** @param {HTMLDetailsElement} tools */
function foldOnPhones(tools) {
  const phone = window.matchMedia(ON_A_PHONE);
  const fold = () => (tools.open = !phone.matches);
  phone.addEventListener("change", fold);
  fold();
}
