// All that is around the two pictures: playback, cameras, overlays, the panel, keepsakes, the live strip, the help sheet.

import { gettext } from "../i18n.js";
import { SIDES } from "../viewer/replay.js";
import { Insight } from "./insight.js";
import { LiveStrip } from "./live.js";
import { part } from "./part.js";
import { listShortcuts, VIEWER_SHORTCUTS } from "./shortcuts.js";
import { fileName, NoRecorder, save, takeClip, takePicture } from "./souvenirs.js";
import { Transport } from "./transport.js";
import { Viewpoints } from "./viewpoints.js";

export class Tools {
  #root;
  #region;
  #stage;
  #filming = null;
  #told = "";
  #otherShortcuts;

  /**
   * @param {HTMLElement} root of the page
   * @param {import("./stage.js").Stage} stage
   * @param {import("./api.js").Api} api
   * @param {{onError: (error: Error) => void, otherShortcuts?: {keys: string[], label: () => string}[]}} options
   */
  constructor(root, stage, api, { onError, otherShortcuts = [] }) {
    this.#root = root;
    this.#region = part(root, "stage");
    this.#stage = stage;
    this.#otherShortcuts = otherShortcuts;
    const bar = part(root, "transport");
    this.transport = new Transport(bar);
    this.viewpoints = new Viewpoints(this.#region, bar);
    this.insight = new Insight(part(root, "insight"), part(bar, "insight-toggle"), stage);
    this.live = new LiveStrip(part(root, "live-strip"), api, onError);
    this.battle = null;
    bar.addEventListener("click", ({ target }) => this.#press(target));
    root.addEventListener("click", ({ target }) => target.closest("[data-action=load-again]") && stage.retry());
    stage.addEventListener("insight", () => this.#showPlaces());
    stage.addEventListener("exact", () => this.viewpoints.allowForces(stage.exactness === "here"));
    stage.addEventListener("turn", () => this.#tellMoment());
    closeMenusOutside(bar);
  }

  /** Once the stage has its pictures, and again when it had to make new ones. */
  attach() {
    const { replay } = this.#stage;
    this.transport.attach(replay.clock);
    this.viewpoints.attach(replay);
    this.viewpoints.allowForces(this.#stage.exactness === "here");
    this.insight.attach(replay.clock);
    replay.clock.addEventListener("change", () => this.#tellMoment());
    this.#showPlaces();
  }

  /** @param {object} battle @param {object | undefined} turn under way @param {number | null} released its last step released */
  render(battle, turn, released) {
    this.battle = battle;
    this.live.render(battle, turn, released);
    this.insight.tellSecret(battle.secret);
  }

  async saveImage() {
    if (!this.#stage.moment) return;
    save(await takePicture(this.#stage.replay, this.#titles()), `${this.#fileName()}.png`);
    this.#note(gettext("Saved."));
  }

  /** Films the recording once; pressed again, it stops there. */
  async saveClip() {
    if (this.#filming) return this.#filming.abort();
    if (!this.#stage.moment?.settled) return;
    this.#filming = new AbortController();
    this.#showFilming(gettext("Filming: press again to stop."));
    try {
      save(await takeClip(this.#stage.replay, this.#titles(), this.#filming.signal), `${this.#fileName()}.webm`);
      this.#showFilming(gettext("Saved."));
    } catch (error) {
      if (!(error instanceof NoRecorder)) throw error;
      this.#showFilming(gettext("This browser cannot make WebM clips."));
    } finally {
      this.#filming = null;
      part(this.#root, "clip").setAttribute("aria-pressed", "false");
    }
  }

  showHelp() {
    const sheet = part(this.#root, "shortcuts");
    if (sheet.open) return sheet.close();
    listShortcuts(part(sheet, "shortcut-list"), [...this.#otherShortcuts, ...VIEWER_SHORTCUTS]);
    sheet.showModal();
  }

  #press(target) {
    const { view } = target.closest("[data-view]")?.dataset ?? {};
    if (view === "insight") this.insight.toggle();
    if (view === "help") this.showHelp();
    const { save: what } = target.closest("[data-save]")?.dataset ?? {};
    if (what === "image") this.saveImage();
    if (what === "clip") this.saveClip();
  }

  #titles() {
    const titles = { instruction: this.#stage.turn.instruction };
    const unknown = { left: gettext("Left robot"), right: gettext("Right robot") };
    for (const side of SIDES) titles[side] = this.battle?.[`${side}_model`]?.name ?? unknown[side];
    return titles;
  }

  #fileName() {
    return fileName(this.#stage.turn.instruction);
  }

  #note(text) {
    part(this.#root, "save-note").textContent = text;
  }

  #showFilming(text) {
    part(this.#root, "clip").setAttribute("aria-pressed", String(this.#filming !== null));
    this.#note(text);
  }

  #showPlaces() {
    if (!this.#stage.replay) return;
    this.transport.setPlaces(placesOf(this.#stage.insight));
  }

  /** For others on the page: which moment is on the screen, whenever the record or the playing changes. */
  #tellMoment() {
    const { moment, replay } = this.#stage;
    const told = JSON.stringify([moment?.turnId, moment?.record, moment?.settled, replay?.clock.playing]);
    if (told === this.#told) return;
    this.#told = told;
    this.#region.dispatchEvent(new CustomEvent("viewer:moment", { detail: moment, bubbles: true }));
  }
}

/** First touch, grasp and parting of a turn: the earliest of both sides to jump to, each side's own as marks. */
function placesOf(insight) {
  if (!insight) return { jumps: {}, marks: [] };
  const [jumps, marks] = [{}, []];
  for (const kind of ["touch", "grasp"]) {
    const times = SIDES.filter((side) => insight.traces[side]?.[kind]).map((side) => {
      const { time } = insight.traces[side][kind];
      marks.push({ kind, side, time });
      return time;
    });
    if (times.length > 0) jumps[kind] = Math.min(...times);
  }
  if (insight.divergence !== null) {
    jumps.divergence = insight.divergence;
    marks.push({ kind: "divergence", side: "both", time: insight.divergence });
  }
  return { jumps, marks };
}

/** A menu closes when one looks elsewhere, or presses Escape. */
function closeMenusOutside(root) {
  const menus = () => root.querySelectorAll("details.menu[open]");
  document.addEventListener("pointerdown", ({ target }) => {
    for (const menu of menus()) if (!menu.contains(target)) menu.open = false;
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of menus()) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
}
