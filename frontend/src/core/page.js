// Connects the parts of the battle page: messages to the store, the store to the views, and user actions to API calls.

import { ApiError } from "./api.js";
import { Composer } from "./composer.js";
import { closest, part } from "./dom.js";
import { FeedbackPanel } from "./feedback.js";
import { helpShortcut, listenToKeys, pageShortcuts } from "./keyboard.js";
import { LiveStrip } from "./live.js";
import { Notices } from "./notices.js";
import { phaseOf, sayPhase, whyNotSend, whyNotVote } from "./phase.js";
import { Release } from "./release.js";
import { SessionList } from "./sessions.js";
import { listShortcuts } from "./shortcuts.js";
import { BattleFeed } from "./socket.js";
import { hasSeveral, SEVERAL, stillToBeSeen, underWay } from "./starts.js";
import { emptyState, isOpen, reduce } from "./store.js";
import { TurnTabs } from "./turns.js";
import { Verdict } from "./verdict.js";
import { VotePanel } from "./vote.js";
import { explainError, useKindWords } from "./words.js";

/**
 * @import { Api } from "./api.js"
 * @import { Kind } from "./kind.d.ts"
 * @import { Message } from "./store.js"
 * @import { BattleJson, SessionJson, SessionRow, TurnJson, VoteEffect } from "./wire.d.ts"
 */

/** Interval of updates of a running turn's progress [ms]. */
const UPDATE_EVERY = 200;

export class BattlePage {
  #root;
  #api;
  #kind;
  #state = emptyState();
  /** @type {BattleFeed | null} */
  #feed = null;
  #opening = 0;
  /** @type {string | null} */
  #chosenTurn = null;
  /** @type {import("./phase.js").Phase} */
  #phase = "loading";
  /** @type {Set<string>} */
  #seen = new Set();
  /** @type {VoteEffect | null} */
  #effect = null;
  /** @type {{own: SessionRow[], current: SessionJson | null}} */
  #sessions = { own: [], current: null };
  #release = new Release();
  /** @type {import("./socket.js").Timer} */
  #ticking;

  /** @param {HTMLElement} root with the addresses in its data attributes @param {Api} api @param {Kind} kind */
  constructor(root, api, kind) {
    this.#root = root;
    this.#api = api;
    this.#kind = kind;
    useKindWords(kind.words);
    this.view = kind.createView(root, {
      startTurn: (call) => this.#startFork(call),
    });
    this.stageRegion = part(root, "stage");
    this.notices = new Notices(part(root, "notices"));
    const putBack = (/** @type {TurnJson} */ { instruction }) => this.composer.putBack(instruction);
    this.live = new LiveStrip(part(root, "live-strip"), api, (error) => this.#fail(error), putBack);
    this.turnTabs = new TurnTabs(part(root, "task"), kind.sayFork, (turnId) => this.#chooseTurn(turnId));
    this.votePanel = new VotePanel(part(root, "vote"), {
      send: (ballot) => this.#vote(ballot),
      leave: ({ battleId, vote, reasons }) => this.#api.voteAndLeave(battleId, vote, reasons),
      dropped: () => this.#fail(blockedNow(this.#opened)),
    });
    this.verdict = new Verdict(part(root, "verdict"), () => this.#nextBattle());
    this.feedback = new FeedbackPanel(root.querySelector("[data-part=feedback]"), api);
    this.composer = new Composer(part(root, "composer"), (instruction, manner) => this.#send(instruction, manner));
    this.sessionList = new SessionList(part(root, "sidebar"), {
      open: (battleId) => this.open(battleId, { push: true }),
      start: () => this.#openSession({ push: true }),
      page: this.#address,
    });
    root.addEventListener("click", (event) => {
      if (closest(event, "[data-action=send-again]")) this.#sendAgain();
    });
    this.#listenToKeys();
    this.view.addEventListener("ready", () => this.#viewReady());
    this.view.addEventListener("moment", () => this.#momentChanged());
    window.addEventListener("popstate", () => this.#openFromAddress());
    const repaint = () => this.view.refreshTheme();
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
    document.addEventListener("themechange", repaint);
  }

  /** @returns {BattleJson | null} */
  get battle() {
    return this.#state.battle;
  }

  /** The battle, which must exist. */
  get #opened() {
    if (!this.battle) throw new Error("no battle is open");
    return this.battle;
  }

  get #address() {
    return this.#root.dataset.page ?? "";
  }

  get #kindId() {
    return this.#root.dataset.kind ?? "";
  }

  async start() {
    this.render();
    const { battle } = this.#root.dataset;
    this.view.load();
    if (battle && this.#shared) await this.#openShared(battle);
    else if (battle) await this.open(battle);
    else await this.#openUntouchedOrNew();
  }

  /** Opens a voted battle of any visitor for reading. */
  get #shared() {
    return "shared" in this.#root.dataset;
  }

  #listenToKeys() {
    const page = pageShortcuts({
      vote: (vote) => this.votePanel.cast(vote),
      undo: () => this.votePanel.undo(),
      next: () => this.#nextBattle(),
      write: () => this.composer.focus(),
    });
    const sheet = part(this.#root, "shortcuts", HTMLDialogElement);
    const shortcuts = [...page, ...this.view.shortcuts, helpShortcut(() => showHelp())];
    const showHelp = () => {
      if (sheet.open) return sheet.close();
      listShortcuts(part(sheet, "shortcut-list"), shortcuts);
      sheet.showModal();
    };
    listenToKeys(shortcuts);
    this.#root.addEventListener("click", (event) => {
      if (closest(event, "[data-view=help]")) showHelp();
    });
    part(this.#root, "composer").addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.isComposing) this.stageRegion.focus({ preventScroll: true }); // the keys are the replay's
    });
  }

  /** @param {string} battleId */
  async #openShared(battleId) {
    this.notices.clear();
    try {
      this.#take({ type: "snapshot", battle: await this.#api.sharedBattle(battleId) });
    } catch (error) {
      this.#fail(error, () => this.#openShared(battleId));
    }
  }

  /** Opens a battle. Of concurrent calls, the last one wins. @param {string} battleId @param {{push?: boolean}} options */
  async open(battleId, { push = false } = {}) {
    this.#opening += 1;
    const request = this.#opening;
    this.#feed?.dispose();
    this.#feed = null;
    this.#chosenTurn = null;
    this.#state = emptyState();
    this.#seen = new Set();
    this.#effect = null;
    this.votePanel.flush();
    this.votePanel.forget();
    this.notices.clear();
    this.render();
    try {
      const battle = await this.#api.battle(battleId);
      if (request !== this.#opening) return;
      // The server knows its page: viewers show the place for which the page was loaded.
      if (battle.kind !== this.#kindId || !this.#isHere(battle)) return location.assign(`${this.#address}/${battleId}${this.#choice}`);
      const address = `${this.#address}/${battleId}${location.search}`;
      if (push) history.pushState(null, "", address);
      else history.replaceState(null, "", address);
      this.#take({ type: "snapshot", battle });
      this.#follow(battleId);
    } catch (error) {
      if (request !== this.#opening) return;
      this.#fail(error, () => this.open(battleId, { push }));
    }
    this.#refreshSessions();
  }

  /** Whether a battle or a session is held in the place of this page. @param {object} held */
  #isHere(held) {
    return Object.entries(this.#kind.setting).every(([name, value]) => /** @type {Record<string, unknown>} */ (held)[name] === value);
  }

  /** The part of the address that says that chance chooses the place; "" where it does not. */
  get #choice() {
    return "anywhere" in this.#root.dataset ? location.search : "";
  }

  /** What a new session is asked for: the place of this page, or what its address leaves to chance. */
  get #wanted() {
    const asked = new URLSearchParams(this.#choice);
    return Object.fromEntries(Object.entries(this.#kind.setting).map(([name, value]) => [name, asked.get(name) ?? value]));
  }

  /** Continues a session that was never used, or opens a new one. */
  async #openUntouchedOrNew() {
    this.render();
    try {
      this.#sessions.own = await this.#api.ownSessions();
      const untouched = this.#sessions.own.find((row) => row.kind === this.#kindId && !row.title && row.last_battle_id && this.#isHere(row));
      if (untouched?.last_battle_id) await this.open(untouched.last_battle_id);
      else await this.#openSession({ setting: this.#kind.setting });
    } catch (error) {
      this.#fail(error, () => this.#openUntouchedOrNew());
    }
  }

  /** @param {{push?: boolean, setting?: Record<string, string | undefined>}} [options] */
  async #openSession(options) {
    try {
      const { battle_id } = await this.#api.openSession({ kind: this.#kindId, ...(options?.setting ?? this.#wanted) });
      await this.open(battle_id, options);
      if (options?.push) this.composer.focus();
    } catch (error) {
      // The place of this page is no longer offered.
      if (error instanceof ApiError && error.code.startsWith("unknown_")) return location.assign(this.#address);
      this.#fail(error, () => this.#openSession(options));
    }
  }

  #openFromAddress() {
    const battleId = location.pathname.slice(this.#address.length + 1);
    if (battleId) this.open(battleId);
  }

  /** @param {string} battleId */
  #follow(battleId) {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const url = `${scheme}//${location.host}${this.#root.dataset.socket}${battleId}/`;
    const feed = new BattleFeed(url, () => this.#api.battle(battleId));
    this.#feed = feed;
    feed.addEventListener("message", (event) => this.#take(/** @type {CustomEvent<Message>} */ (event).detail));
    feed.addEventListener("connection", () => this.notices.connection(feed.connected));
    feed.addEventListener("refused", () => this.#fail(new ApiError(404, { code: "not_found", detail: "" })));
  }

  /** @param {Message} message */
  #take(message) {
    const before = this.#state;
    this.#state = reduce(before, message, this.#kind);
    if (message.type === this.#kind.chunkType) {
      if (this.#state !== before && "turn_id" in message) this.#showChunk(message.turn_id);
      return;
    }
    const turns = this.battle?.turns ?? [];
    for (const turn of turns) this.#release.hear(turn, { justNow: message.type === "rollout.started" });
    if (this.#state.needsSnapshot) this.#feed?.ask();
    if (this.#feed) this.#feed.waiting = turns.some(isOpen);
    this.render();
  }

  /** Updates only the viewers and their progress. @param {string} turnId */
  #showChunk(turnId) {
    const turn = this.#opened.turns.find(({ turn_id }) => turn_id === turnId);
    if (turn) this.#noteChunks(turn);
    this.#showTurn();
    this.#renderRelease();
  }

  /** @param {TurnJson} turn */
  #noteChunks(turn) {
    const last = this.#state.chunks[turn.turn_id]?.at(-1);
    const step = last ? this.view.stepOf(last) : null;
    if (step !== null) this.#release.came(turn, step);
  }

  #showTurn() {
    const turn = this.shownTurn;
    this.view.show(this.#opened, turn, turn ? (this.#state.chunks[turn.turn_id] ?? []) : []);
  }

  /** @param {string} turnId */
  #chooseTurn(turnId) {
    this.#chosenTurn = turnId;
    this.render();
  }

  get shownTurn() {
    const turns = this.battle?.turns ?? [];
    return turns.find(({ turn_id }) => turn_id === this.#chosenTurn) ?? (this.battle ? underWay(this.battle) : undefined);
  }

  render() {
    const { battle } = this;
    const turn = this.shownTurn;
    const phase = phaseOf(battle);
    this.#root.dataset.phase = phase;
    const several = battle?.status === "ongoing" && hasSeveral(battle);
    this.composer.render({ phase, several, canVote: Boolean(battle?.can_vote), blocked: whyNotSend(battle) });
    if (battle) {
      this.turnTabs.render(battle, turn);
      this.votePanel.render(battle, whyNotVote(battle, this.#isUnseen(battle)));
      this.verdict.render(battle);
      this.verdict.renderEffect(battle, this.#effect);
      this.feedback.render(battle);
      this.view.render(battle, turn);
      this.#showTurn();
      this.#renderRelease();
    }
    if (phase !== this.#phase) this.#phaseChanged(phase);
  }

  /** Updates that repeat while a turn runs. */
  #renderRelease() {
    const battle = this.#opened;
    const hearing = Boolean(this.#feed?.connected && this.view.canShow);
    const released = (/** @type {TurnJson | undefined} */ turn) => (turn ? this.#release.step(turn, hearing) : null);
    const now = underWay(battle);
    this.live.render(battle, now, released(now));
    this.view.renderProgress(battle, this.shownTurn, released(this.shownTurn));
    const runs = battle.turns.some(({ status }) => status === "running");
    if (!runs) clearInterval(this.#ticking);
    this.#ticking = runs ? (this.#ticking ?? setInterval(() => this.battle && this.#renderRelease(), UPDATE_EVERY)) : undefined;
  }

  /** @param {import("./phase.js").Phase} phase */
  #phaseChanged(phase) {
    const before = this.#phase;
    this.#phase = phase;
    part(this.#root, "announce").textContent = sayPhase(phase, this.battle);
    if (before !== "loading") this.#refreshSessions();
    if (phase === "voted") this.#learnEffect();
    if (phase === "voted" && before === "settled") this.#followFocus();
  }

  /** The vote buttons are gone: who was there goes on with the verdict. Whoever writes or watches stays where they are. */
  #followFocus() {
    const { activeElement } = document;
    const nowhere = activeElement === null || activeElement === document.body || activeElement === this.stageRegion;
    if (nowhere || part(this.#root, "vote").contains(activeElement)) this.verdict.focus();
  }

  /** A vote requires that both replays of a completed turn were shown, or each of several starts, live or recorded. */
  #momentChanged() {
    const { moment } = this.view;
    const { battle } = this;
    if (moment && (moment.settled || hasSeveral(battle))) this.#seen.add(moment.turnId);
    if (battle) this.votePanel.render(battle, whyNotVote(battle, this.#isUnseen(battle)));
  }

  /** Whether something must be watched before the vote. @param {BattleJson} battle */
  #isUnseen(battle) {
    const unseen = stillToBeSeen(battle, this.#seen);
    const completed = battle.turns.filter(({ status }) => status === "completed");
    return hasSeveral(battle) ? unseen.length > 0 : unseen.length === completed.length;
  }

  /** Loads the counted votes on the pair, which are optional. */
  async #learnEffect() {
    const { battle_id } = this.#opened;
    try {
      const effect = await this.#api.effect(battle_id);
      if (this.battle?.battle_id !== battle_id) return;
      this.#effect = effect;
      this.verdict.renderEffect(this.battle, effect);
    } catch {
      // The vote is stored; its effect is shown next time.
    }
  }

  #viewReady() {
    for (const turn of this.battle?.turns ?? []) this.#noteChunks(turn); // chunks that arrived before they could be decoded
    this.render();
  }

  /** @param {string} instruction @param {import("./composer.js").Manner} manner */
  async #send(instruction, { start, several }) {
    return this.#startTurn(async () => {
      if ((await this.#votedFirst()) === false) return false;
      if (this.#opened.status !== "ongoing") {
        const { battle_id } = await this.#api.nextBattle(this.#opened.session_id);
        await this.open(battle_id, { push: true });
        if (!this.battle) return false; // it could not be opened, and the page shows the reason
      }
      const { battle_id, turns, start_count } = this.#opened;
      const begun = turns.length > 0 ? start_count : null;
      await this.#api.sendInstruction(battle_id, instruction, start, begun ?? (several ? SEVERAL : 1));
    });
  }

  /** Sends a held vote before an instruction, which is then the next battle's. False: it was refused. */
  async #votedFirst() {
    const accepted = await this.votePanel.flush();
    if (accepted) this.#take({ type: "snapshot", battle: await this.#api.battle(this.#opened.battle_id) });
    return accepted;
  }

  /**
   * The focus stays where it is: in the instruction box, or on the button. A screen keyboard folds, to show the pictures.
   * @param {() => Promise<unknown>} call adds a turn, or resolves to false
   * @returns {Promise<boolean>} whether it was added
   */
  async #startTurn(call) {
    this.notices.clear();
    try {
      if ((await call()) === false) return false;
    } catch (error) {
      this.#refused(error);
      return false;
    }
    this.#chosenTurn = null;
    this.#awaitTurn();
    const { activeElement } = document;
    if (activeElement instanceof HTMLElement && window.matchMedia("(pointer: coarse)").matches) activeElement.blur();
    return true;
  }

  /** @param {(battleId: string) => Promise<unknown>} call @returns {Promise<boolean>} */
  async #startFork(call) {
    const started = await this.#startTurn(() => call(this.#opened.battle_id));
    if (started) this.stageRegion.scrollIntoView({ block: "nearest" });
    return started;
  }

  /** Expects news of the turn that was sent, unless it has arrived already. */
  #awaitTurn() {
    if (!this.#feed) return;
    this.#feed.waiting = true;
    if (!this.#feed.connected) this.#feed.ask();
  }

  #sendAgain() {
    const last = this.battle?.turns.at(-1);
    if (last) this.#send(last.instruction, { start: last.start, several: false });
  }

  async #nextBattle() {
    if (!this.battle || this.battle.status === "ongoing" || this.#shared) return;
    if (this.#choice) return this.#openSession({ push: true }); // a session stays in its place
    try {
      const { battle_id } = await this.#api.nextBattle(this.battle.session_id);
      await this.open(battle_id, { push: true });
      this.composer.focus();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** @param {import("./vote.js").Ballot} ballot @returns {Promise<boolean>} whether it was accepted */
  async #vote({ battleId, vote, reasons }) {
    this.notices.clear();
    try {
      await this.#api.vote(battleId, vote, reasons);
      this.#feed?.ask();
      return true;
    } catch (error) {
      this.#refused(error);
      return false;
    }
  }

  /**
   * Shows a refusal, and requests a snapshot: the page may be outdated if another tab changed the battle.
   * @param {unknown} error
   */
  #refused(error) {
    this.#fail(error);
    this.#feed?.ask();
  }

  async #refreshSessions() {
    if (this.#shared) return;
    try {
      this.#sessions.own = await this.#api.ownSessions();
      const sessionId = this.battle?.session_id;
      this.#sessions.current = sessionId ? await this.#api.session(sessionId) : null;
      this.sessionList.render(this.#sessions.own, this.#sessions.current, this.battle?.battle_id);
    } catch {
      // The list is optional; a lasting failure shows elsewhere.
    }
  }

  /** @param {unknown} error @param {() => void} [retry] the action of the retry button */
  #fail(error, retry) {
    if (!(error instanceof ApiError)) throw error;
    const missing = error.code === "not_found" && !this.battle;
    this.notices.error(explainError(error), { code: error.code, retry: missing ? undefined : retry });
    if (missing) this.#root.dataset.phase = "missing";
  }
}

/** Why a vote that was held is not sent: another tab voted, or sent an instruction. @param {BattleJson} battle */
const blockedNow = ({ status, vote_blocked_because }) =>
  new ApiError(409, { code: status === "voted" ? "already_voted" : (vote_blocked_because ?? "battle_closed"), detail: "" });
