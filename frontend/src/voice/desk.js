// The desk at which both agents are called: consent, the call itself, and what comes next.

import { ApiError } from "../core/api.js";
import { part } from "../core/dom.js";
import { gettext } from "../core/i18n.js";
import { explainError } from "../core/words.js";
import { Audio, devices, NoSound, peak } from "./audio.js";
import { Line } from "./line.js";
import { addLine } from "./lines.js";
import { Wave } from "./wave.js";
import { AGENT_NAMES, ENDS } from "./words.js";

/**
 * @import { Slot, VoiceApi } from "./api.js"
 * @import { Message } from "./line.js"
 * @typedef {"loading" | "briefing" | "calling" | "sending" | "done"} State
 * @typedef {"a" | "b"} Label
 */

const SILENT = gettext("Your browser plays no sound. Connect a loudspeaker or headphones, then call again.");
const REFUSED = gettext("Your browser gave no microphone, so type what you want to say: a voice says it to the agent.");

export class Desk {
  #root;
  #page;
  #api;
  #bothCalled;
  #wave;
  #battleId = "";
  /** @type {Slot[]} */
  #slots = [];
  /** @type {State} */
  #state = "loading";
  /** @type {Audio | null} */
  #audio = null;
  /** @type {Line | null} */
  #line = null;
  #agentPeak = 0;
  #startedAt = 0;
  #mostSeconds = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #ticking;

  /**
   * @param {HTMLElement} page @param {VoiceApi} api
   * @param {(battleId: string) => Promise<boolean>} bothCalled sends the turn; resolves to whether it was added
   */
  constructor(page, api, bothCalled) {
    this.#page = page;
    this.#root = part(page, "desk");
    this.#api = api;
    this.#bothCalled = bothCalled;
    this.#wave = new Wave(part(this.#root, "wave", HTMLCanvasElement));
    part(this.#root, "consent-box", HTMLInputElement).addEventListener("change", () => this.#draw());
    part(this.#root, "call").addEventListener("click", () => this.#call());
    part(this.#root, "hang-up").addEventListener("click", () => this.#line?.tell({ type: "end" }));
    part(this.#root, "mute").addEventListener("click", () => this.#mute());
    part(this.#root, "typed", HTMLFormElement).addEventListener("submit", (event) => this.#type(event));
    window.addEventListener("beforeunload", (event) => {
      if (this.#state === "calling") event.preventDefault();
    });
  }

  /** How often playback ran dry in this call, for tests. */
  get gaps() {
    return this.#audio?.gaps ?? 0;
  }

  /** @param {string} battleId @param {boolean} isOpen whether its calls can (still) be made */
  show(battleId, isOpen) {
    this.#root.hidden = !isOpen;
    if (battleId === this.#battleId) {
      if (!isOpen && this.#state !== "done") this.#become("done");
      return;
    }
    this.#leave();
    this.#battleId = battleId;
    this.#become(isOpen ? "loading" : "done");
    this.#say("");
    if (isOpen) this.#learn();
  }

  /** The agent that is called next; undefined once both were. @returns {Label | undefined} */
  get #next() {
    return this.#slots.find(({ status }) => status === "open" || status === "talking")?.label;
  }

  async #learn() {
    const battleId = this.#battleId;
    try {
      const { calls } = await this.#api.calls(battleId);
      if (battleId !== this.#battleId) return;
      this.#slots = calls;
    } catch (error) {
      return this.#refuse(error);
    }
    if (this.#next) return this.#become("briefing");
    this.#become("sending");
    if (!(await this.#bothCalled(battleId))) this.#say(gettext("The calls are kept. Reload the page to go on."), true);
  }

  async #call() {
    const label = this.#next;
    if (!label || !part(this.#root, "consent-box", HTMLInputElement).checked) return;
    this.#say("");
    part(this.#root, "call").setAttribute("disabled", "");
    const audio = new Audio();
    this.#audio = audio;
    try {
      await audio.open(this.#page.dataset.worklet ?? "", (piece) => this.#heard(piece), this.#devices());
      const { socket } = await this.#api.call(this.#battleId, label, part(this.#root, "publish-box", HTMLInputElement).checked);
      this.#become("calling");
      this.#line = new Line(socket, {
        message: (message) => this.#take(message),
        audio: (piece) => this.#play(piece),
        lost: (forGood) => this.#lost(forGood),
      });
    } catch (error) {
      this.#leave();
      this.#become("briefing");
      this.#refuse(error);
    }
    this.#listDevices();
  }

  #devices() {
    const chosen = (/** @type {string} */ name) => part(this.#root, name, HTMLSelectElement).value;
    return { microphone: chosen("microphone"), speaker: chosen("speaker") };
  }

  async #listDevices() {
    const { microphones, speakers } = await devices();
    fill(part(this.#root, "microphone", HTMLSelectElement), microphones);
    fill(part(this.#root, "speaker", HTMLSelectElement), speakers);
    part(this.#root, "speaker-label").hidden = speakers.length === 0 || !("setSinkId" in AudioContext.prototype);
  }

  // While a call is held.

  /** @param {Int16Array} piece */
  #heard(piece) {
    this.#line?.speak(piece);
    const level = peak(piece);
    const shown = Math.round(100 * Math.sqrt(level));
    const meter = part(this.#root, "meter");
    meter.setAttribute("aria-valuenow", String(shown));
    /** @type {HTMLElement} */ (meter.firstElementChild).style.transform = `scaleX(${shown / 100})`;
    this.#wave.add(this.#agentPeak, level);
  }

  /** @param {Int16Array} piece */
  #play(piece) {
    this.#agentPeak = peak(piece);
    if (!this.#audio?.hasMicrophone) this.#wave.add(this.#agentPeak, 0);
    this.#audio?.play(piece);
  }

  /** @param {Message} message */
  #take(message) {
    switch (message.type) {
      case "started":
      case "resumed":
        this.#startedAt = performance.now() - message.position_ms;
        this.#mostSeconds = message.most_seconds;
        this.#tell(this.#audio?.hasMicrophone ? gettext("You are connected. The agent greets you first.") : REFUSED);
        return;
      case "said":
        if (this.#audio?.hasMicrophone) this.#tell("");
        return addLine(part(this.#root, "lines"), message, AGENT_NAMES[this.#next ?? "a"]);
      case "clear":
        return this.#audio?.clear();
      case "ended":
        return this.#ended(ENDS[message.reason] ?? "", message.again);
      case "error":
        return this.#ended(explainError(new ApiError(409, message)), false);
    }
  }

  /** @param {boolean} forGood */
  #lost(forGood) {
    if (forGood) return this.#ended(gettext("The connection was lost for too long."), false);
    this.#audio?.clear();
    this.#tell(gettext("The connection was lost. Trying to come back."));
  }

  /** @param {string} why @param {boolean} again */
  #ended(why, again) {
    this.#leave();
    this.#become("loading");
    this.#say(again ? `${why} ${gettext("Nobody answered anybody, so you can call this agent once more.")}` : why);
    this.#learn();
  }

  #leave() {
    this.#line?.close();
    this.#line = null;
    this.#audio?.close();
    this.#audio = null;
  }

  #mute() {
    if (!this.#audio) return;
    this.#audio.muted = !this.#audio.muted;
    part(this.#root, "mute").setAttribute("aria-pressed", String(this.#audio.muted));
  }

  /** @param {Event} event */
  #type(event) {
    event.preventDefault();
    const words = part(this.#root, "typed-words", HTMLInputElement);
    if (!words.value.trim()) return;
    this.#audio?.clear();
    this.#line?.tell({ type: "say", text: words.value.trim() });
    words.value = "";
  }

  // What is shown.

  /** @param {State} state */
  #become(state) {
    const before = this.#state;
    this.#state = state;
    if (state === "calling") {
      part(this.#root, "lines").replaceChildren();
      part(this.#root, "mute").setAttribute("aria-pressed", "false");
      this.#wave.clear();
      this.#tell(gettext("Connecting ..."));
      this.#startedAt = performance.now();
    }
    clearInterval(this.#ticking);
    if (state === "calling") this.#ticking = setInterval(() => this.#tick(), 500);
    this.#draw();
    if (state === "briefing" && before !== "briefing" && this.#next === "b") part(this.#root, "desk-title").focus({ preventScroll: true });
  }

  #tick() {
    const seconds = Math.max(0, Math.floor((performance.now() - this.#startedAt) / 1000));
    const left = this.#mostSeconds - seconds;
    part(this.#root, "timer").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (left > 0 && left <= 15) this.#tell(gettext("The call ends in %(seconds)s s.", { seconds: left }));
  }

  #draw() {
    const label = this.#next;
    const state = this.#state;
    this.#root.dataset.state = state;
    this.#root.dataset.label = label ?? "";
    part(this.#root, "briefing").hidden = state !== "briefing";
    part(this.#root, "phone").hidden = state !== "calling";
    const current = label ?? "vote";
    for (const step of /** @type {NodeListOf<HTMLElement>} */ (this.#root.querySelectorAll("[data-step]"))) {
      if (step.dataset.step === current) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    }
    part(this.#root, "desk-title").textContent = label ? AGENT_NAMES[label] : gettext("Both calls have ended");
    const button = part(this.#root, "call");
    button.textContent = label === "b" ? gettext("Call agent B") : gettext("Call agent A");
    button.toggleAttribute("disabled", !part(this.#root, "consent-box", HTMLInputElement).checked);
    part(this.#root, "consent").hidden = label === "b" && part(this.#root, "consent-box", HTMLInputElement).checked;
  }

  /** @param {unknown} error */
  #refuse(error) {
    if (error instanceof NoSound) return this.#say(SILENT, true);
    if (!(error instanceof ApiError)) throw error;
    this.#say(explainError(error), true);
  }

  /** @param {string} words @param {boolean} [bad] */
  #say(words, bad = false) {
    const note = part(this.#root, "desk-note");
    note.textContent = words;
    note.toggleAttribute("data-bad", bad);
    part(this.#root, "desk-said").textContent = words;
  }

  /** @param {string} words */
  #tell(words) {
    const said = part(this.#root, "phone-state");
    if (said.textContent !== words) said.textContent = words;
  }
}

/** @param {HTMLSelectElement} select @param {MediaDeviceInfo[]} found */
function fill(select, found) {
  const { value } = select;
  const [usual] = select.options;
  select.replaceChildren(usual, ...found.map(({ deviceId, label }) => new Option(label, deviceId)));
  if (found.some(({ deviceId }) => deviceId === value)) select.value = value;
}
