// A waiting or running turn: its place in the queue, its progress, and a button to cancel it.

import { gettext, ngettext } from "./i18n.js";
import { part } from "./dom.js";
import { sayStart } from "./starts.js";
import { isOpen } from "./store.js";
import { ofKind } from "./words.js";

/**
 * @import { Api } from "./api.js"
 * @import { BattleJson, QueueJson, TurnJson } from "./wire.d.ts"
 */

/** Interval of requests for the place in the queue [ms]; none is sent for a turn that starts at once. */
const ASK_EVERY = 2_000;
const FIRST_ASK = 800;

export class LiveStrip {
  #root;
  #api;
  /** @type {string | null} "Start 2 of 3" */
  #start = null;
  /** @type {TurnJson | null} */
  #turn = null;
  /** @type {QueueJson | null} */
  #queue = null;
  /** @type {import("./socket.js").Timer} */
  #timer;
  #cancelling = false;
  #begun = false;

  /**
   * @param {HTMLElement} root @param {Pick<Api, "cancelTurn" | "queue">} api @param {(error: unknown) => void} onError
   * @param {(turn: TurnJson) => void} onStopped
   */
  constructor(root, api, onError, onStopped) {
    this.#root = root;
    this.#api = api;
    this.onError = onError;
    this.onStopped = onStopped;
    part(root, "cancel").addEventListener("click", () => this.cancel());
  }

  /**
   * @param {BattleJson} battle @param {TurnJson | undefined} turn under way
   * @param {number | null} released its last step released
   */
  render(battle, turn, released) {
    this.#begun = released !== null;
    const status = turn?.status;
    if (turn?.turn_id !== this.#turn?.turn_id || status !== "queued") this.#stopAsking();
    this.#turn = turn && isOpen(turn) ? turn : null;
    this.#start = this.#turn && sayStart(this.#turn, battle);
    if (status === "queued" && this.#timer === undefined) this.#timer = setTimeout(() => this.#ask(), FIRST_ASK);
    this.#show();
  }

  async cancel() {
    const turn = this.#turn;
    if (!turn || this.#cancelling) return;
    this.#cancelling = true;
    this.#show();
    try {
      await this.#api.cancelTurn(turn.turn_id);
      this.onStopped(turn);
    } catch (error) {
      this.onError(error);
    } finally {
      this.#cancelling = false;
      this.#show();
    }
  }

  async #ask() {
    if (!this.#turn) return;
    const { turn_id } = this.#turn;
    try {
      this.#queue = await this.#api.queue(turn_id);
    } catch {
      this.#queue = null; // the place is optional; a lasting failure shows elsewhere
    }
    if (this.#turn?.turn_id !== turn_id || this.#timer === undefined) return;
    this.#timer = setTimeout(() => this.#ask(), ASK_EVERY);
    this.#show();
  }

  #stopAsking() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#queue = null;
  }

  #show() {
    this.#root.hidden = this.#turn === null;
    if (this.#turn === null) return;
    this.#root.dataset.status = this.#turn.status;
    const text = part(this.#root, "live-text");
    const said = this.#cancelling ? gettext("Stopping…") : this.#say(this.#turn);
    if (text.textContent !== said) text.textContent = said; // screen readers announce every change
    part(this.#root, "cancel").setAttribute("aria-disabled", String(this.#cancelling));
  }

  /** @param {TurnJson} turn */
  #say(turn) {
    return [this.#start, this.#sayState(turn)].filter(Boolean).join(". ");
  }

  /** @param {TurnJson} turn */
  #sayState({ status }) {
    if (status === "running") return this.#begun ? ofKind().running : ofKind().starting;
    return this.#queue === null ? ofKind().waiting : sayQueue(this.#queue);
  }
}

/** @param {QueueJson} queue */
export function sayQueue({ ahead, expected_wait_s: seconds }) {
  if (ahead === 0) return gettext("You are next.");
  const place = ngettext("%(count)s turn is ahead of yours.", "%(count)s turns are ahead of yours.", ahead);
  if (seconds === null) return place;
  const wait =
    seconds < 90
      ? gettext("Yours should start in about %(seconds)s s.", { seconds: Math.max(1, Math.round(seconds)) })
      : gettext("Yours should start in about %(minutes)s min.", { minutes: Math.round(seconds / 60) });
  return `${place} ${wait}`;
}
