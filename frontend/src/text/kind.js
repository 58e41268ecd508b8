// Language models as a kind of battle: two answers side by side, released by one clock.

import { closest, part } from "../core/dom.js";
import { gettext } from "../core/i18n.js";
import { nameOf } from "../core/phase.js";
import { wasStopped } from "../core/starts.js";
import { explainFailure } from "../core/words.js";
import { Extras } from "./extras.js";
import { showMarkdown } from "./markdown.js";
import { renderOutcomes } from "./outcome.js";
import { joined, lastOf, readPieces, SIDES } from "./pieces.js";
import { WORDS } from "./words.js";

/**
 * @import { BattleView, Kind, ViewHost } from "../core/kind.d.ts"
 * @import { BattleJson, TurnJson } from "../core/wire.d.ts"
 * @import { TextApi } from "./api.js"
 * @import { Pieces } from "./pieces.js"
 * @typedef {"left" | "right"} Side
 */

/** From an answer that could not be fetched to the next try [ms]. */
const RETRY_AFTER = 3000;

/** @implements {Kind} */
export class TextKind {
  words = WORDS;
  chunkType = "rollout.frames";
  readChunk = readPieces;
  setting = {};
  #api;

  /** @param {TextApi} api */
  constructor(api) {
    this.#api = api;
  }

  sayFork() {
    return "";
  }

  /** @param {HTMLElement} root @param {ViewHost} host */
  createView(root, host) {
    return new AnswersView(root, this.#api, host);
  }
}

/** @implements {BattleView} */
class AnswersView extends EventTarget {
  canShow = true;
  /** @type {{turnId: string, settled: boolean} | null} */
  moment = null;
  shortcuts = [
    { keys: ["w"], label: () => gettext("Show answers while they come, or when both are done"), act: () => this.#whole.click() },
    { keys: ["o"], label: () => gettext("The other answer, one at a time"), act: () => this.#turnOver() },
  ];
  #root;
  #api;
  #whole;
  #single;
  #stage;
  #extras;
  #sides;
  /** The answer that is shown alone. @type {Side} */
  #facing = "left";
  /** Sides of the turn that were shown. @type {{turnId: string, sides: Set<Side>}} */
  #faced = { turnId: "", sides: new Set() };
  /** Answers that were fetched, by turn: null while they come. @type {Map<string, Record<Side, string> | null>} */
  #fetched = new Map();
  /** Whether an answer that was fetched is liked, by episode. @type {Map<string, boolean>} */
  #likes = new Map();
  /** The answers that are shown, if their visitor may like them. @type {Record<Side, string> | null} */
  #likeable = null;
  /** @type {Record<Side, string>} */
  #text = { left: "", right: "" };
  /** @type {(() => void) | null} */
  #again = null;

  /** @param {HTMLElement} root of the page @param {TextApi} api @param {ViewHost} host */
  constructor(root, api, host) {
    super();
    this.#root = root;
    this.#api = api;
    this.#whole = part(root, "whole", HTMLInputElement);
    this.#sides = { left: sideOf(root, "left"), right: sideOf(root, "right") };
    this.#single = part(root, "single", HTMLInputElement);
    this.#stage = part(root, "stage");
    this.#extras = new Extras(root.dataset, () => this.#drawExtras());
    this.#whole.addEventListener("change", () => this.#again?.());
    this.#single.addEventListener("change", () => this.#face());
    root.addEventListener("click", (event) => {
      const copy = closest(event, "[data-part=copy]");
      if (copy) this.#copy(copy);
      const like = closest(event, "[data-part=like]");
      if (like) this.#like(sideAround(like));
      if (closest(event, "[data-part=other]")) this.#turnOver();
      const again = closest(event, "[data-again]");
      if (again) host.startTurn((battleId) => api.again(battleId, again.dataset.again ?? ""));
    });
    this.#face();
  }

  load() {
    this.dispatchEvent(new Event("ready"));
  }

  /** @param {BattleJson} battle @param {TurnJson | undefined} turn */
  render(battle, turn) {
    for (const side of SIDES) {
      const name = battle.vote ? nameOf(side === "left" ? battle.left_model : battle.right_model) : SIDE_NAMES[side];
      part(this.#sides[side], "name").textContent = name ?? SIDE_NAMES[side];
      this.#sides[side].dataset.status = turn?.[side].status ?? "idle";
    }
    const last = battle.turns.findLast((each) => !wasStopped(each));
    const mayRepeat = battle.can_send && turn?.status === "completed" && turn === last;
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (this.#root.querySelectorAll("[data-again]"))) button.hidden = !mayRepeat;
    renderOutcomes(part(this.#root, "verdict"), battle);
  }

  /** @param {BattleJson} battle @param {TurnJson | undefined} turn @param {Pieces[]} come */
  show(battle, turn, come) {
    this.#again = () => this.show(battle, turn, come);
    const running = turn?.status === "queued" || turn?.status === "running";
    const known = this.#answersOf(turn, come);
    for (const side of SIDES) {
      const hidden = running && this.#whole.checked;
      const said = turn?.status === "failed" ? explainFailure(turn[side].error) : "";
      this.#draw(side, hidden ? "" : known[side], running, said);
    }
    this.#drawLikes(battle, turn);
    this.#noteFacing(turn);
    const bothShown = !this.#single.checked || this.#faced.sides.size === SIDES.length;
    this.#note(turn, turn?.status === "completed" && known.whole && bothShown);
  }

  renderProgress() {}

  /** @param {Pieces} pieces */
  stepOf(pieces) {
    return lastOf(pieces);
  }

  refreshTheme() {}

  /**
   * What is known of the turn's answers: what came, and once it is completed what is recorded, which lacks nothing.
   * @param {TurnJson | undefined} turn @param {Pieces[]} come
   */
  #answersOf(turn, come) {
    const steps = turn?.status === "completed" ? Math.max(turn.left.steps ?? 0, turn.right.steps ?? 0) : null;
    const known = joined(come, steps);
    if (turn?.status !== "completed") return known;
    const fetched = this.#fetched.get(turn.turn_id);
    if (fetched === undefined) this.#fetch(turn);
    return fetched ? { ...fetched, whole: true } : known;
  }

  /** @param {TurnJson} turn */
  async #fetch({ turn_id, left, right }) {
    this.#fetched.set(turn_id, null);
    try {
      const [one, other] = await Promise.all([left, right].map(({ episode_id }) => this.#api.answer(episode_id)));
      this.#fetched.set(turn_id, { left: one.text, right: other.text });
      this.#likes.set(left.episode_id, one.liked).set(right.episode_id, other.liked);
      this.#again?.();
    } catch {
      setTimeout(() => {
        this.#fetched.delete(turn_id);
        this.#again?.();
      }, RETRY_AFTER);
    }
  }

  /** @param {Side} side @param {string} text @param {boolean} running @param {string} failure */
  #draw(side, text, running, failure) {
    const root = this.#sides[side];
    const box = part(root, "text");
    box.setAttribute("aria-busy", String(running));
    part(root, "copy").hidden = running || text === "";
    part(root, "failure").textContent = failure;
    if (this.#text[side] === text) return;
    this.#text[side] = text;
    part(root, "copy").textContent = gettext("Copy");
    const follows = box.scrollTop + box.clientHeight >= box.scrollHeight - 4;
    showMarkdown(box, text);
    this.#extras.draw(box);
    if (running && follows) box.scrollTop = box.scrollHeight;
  }

  /** Others' battles have no session. @param {BattleJson} battle @param {TurnJson | undefined} turn */
  #drawLikes(battle, turn) {
    const own = turn?.status === "completed" && battle.session_id !== "";
    this.#likeable = own ? { left: turn.left.episode_id, right: turn.right.episode_id } : null;
    for (const side of SIDES) {
      const liked = this.#likeable ? this.#likes.get(this.#likeable[side]) : undefined;
      const button = part(this.#sides[side], "like");
      button.hidden = liked === undefined;
      button.setAttribute("aria-pressed", String(liked === true));
    }
  }

  /** @param {Side} side */
  async #like(side) {
    const episodeId = this.#likeable?.[side] ?? "";
    try {
      this.#likes.set(episodeId, (await this.#api.like(episodeId, !this.#likes.get(episodeId))).liked);
      this.#again?.();
    } catch {
      // The button stays as it was.
    }
  }

  /** @param {TurnJson | undefined} turn @param {boolean} settled */
  #note(turn, settled) {
    const same = this.moment?.turnId === turn?.turn_id && Boolean(this.moment?.settled) === settled;
    if (same) return;
    this.moment = turn ? { turnId: turn.turn_id, settled } : null;
    this.dispatchEvent(new Event("moment"));
  }

  #drawExtras() {
    for (const side of SIDES) this.#extras.draw(part(this.#sides[side], "text"));
  }

  #turnOver() {
    this.#single.checked = true;
    this.#facing = this.#facing === "left" ? "right" : "left";
    this.#face();
  }

  #face() {
    const alone = this.#single.checked;
    if (alone) this.#stage.dataset.single = this.#facing;
    else delete this.#stage.dataset.single;
    part(this.#root, "turner").hidden = !alone;
    const number = SIDES.indexOf(this.#facing) + 1;
    part(this.#root, "which").textContent = alone ? gettext("Answer %(number)s of %(count)s", { number, count: SIDES.length }) : "";
    this.#again?.();
  }

  /** Notes which answers of a turn that is done were on the screen. @param {TurnJson | undefined} turn */
  #noteFacing(turn) {
    if (turn?.turn_id !== this.#faced.turnId) this.#faced = { turnId: turn?.turn_id ?? "", sides: new Set() };
    if (turn?.status !== "completed") return;
    for (const side of SIDES) if (!this.#single.checked || side === this.#facing) this.#faced.sides.add(side);
  }

  /** @param {HTMLElement} button */
  async #copy(button) {
    const side = sideAround(button);
    try {
      await navigator.clipboard.writeText(this.#text[side]);
      button.textContent = gettext("Copied");
    } catch {
      // Browsers deny the clipboard to pages without HTTPS; what is selected can be copied by hand.
      const shown = part(this.#sides[side], "text");
      shown.focus();
      getSelection()?.selectAllChildren(shown);
    }
  }
}

/** @param {HTMLElement} root @param {Side} side */
const sideOf = (root, side) => /** @type {HTMLElement} */ (root.querySelector(`[data-side=${side}]`));

/** @param {Element} element in an answer */
const sideAround = (element) => /** @type {Side} */ (element.closest("[data-side]")?.getAttribute("data-side"));

const SIDE_NAMES = { left: gettext("Left answer"), right: gettext("Right answer") };
