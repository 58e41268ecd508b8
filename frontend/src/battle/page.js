// Connects the battle page's parts: messages into the store, the store into what is seen, and people's wishes into calls.

import { Composer } from "./composer.js";
import { ExplorePanel } from "./explore.js";
import { listenToKeys, PAGE_SHORTCUTS } from "./keyboard.js";
import { Notices } from "./notices.js";
import { phaseOf, sayPhase, whyNotSend, whyNotVote } from "./phase.js";
import { Release } from "./release.js";
import { SessionList } from "./sessions.js";
import { SidePanel } from "./sides.js";
import { BattleFeed } from "./socket.js";
import { Stage } from "./stage.js";
import { hasSeveral, SEVERAL, stillToBeSeen, underWay } from "./starts.js";
import { emptyState, isOpen, reduce } from "./store.js";
import { Tools } from "./tools.js";
import { TurnTabs } from "./turns.js";
import { Verdict } from "./verdict.js";
import { VotePanel } from "./vote.js";
import { explainError } from "./words.js";

/** While a turn runs, how far it is is written this often [ms]. */
const UPDATE_EVERY = 200;

export class BattlePage {
  #root;
  #api;
  #feed = null;
  #opening = 0;
  #chosenTurn = null;
  #phase = "loading";
  #seen = new Set();
  #effect = null;
  #sessions = { own: [], current: null };
  #release = new Release();
  #ticking = null;

  /** @param {HTMLElement} root with the addresses in its data attributes @param {import("./api.js").Api} api */
  constructor(root, api) {
    this.#root = root;
    this.#api = api;
    this.state = emptyState();
    const part = (name) => root.querySelector(`[data-part=${name}]`);
    this.panels = {
      left: new SidePanel(root.querySelector("[data-viewer=left]"), "left"),
      right: new SidePanel(root.querySelector("[data-viewer=right]"), "right"),
    };
    this.stage = new Stage(this.panels, api, {
      addresses: { workerUrl: root.dataset.worker, wasmUrl: root.dataset.wasm },
      quality: new URLSearchParams(location.search).get("quality"),
      onReady: () => this.#stageReady(),
    });
    this.stageRegion = part("stage");
    this.announcer = part("announce");
    this.notices = new Notices(part("notices"));
    this.tools = new Tools(root, this.stage, api, { onError: (error) => this.#fail(error), otherShortcuts: PAGE_SHORTCUTS });
    this.turnTabs = new TurnTabs(part("task"), (turnId) => this.#chooseTurn(turnId));
    this.votePanel = new VotePanel(part("vote"), (vote, reasons) => this.#vote(vote, reasons));
    this.verdict = new Verdict(part("verdict"), { next: () => this.#nextBattle() });
    this.explorePanel = new ExplorePanel(part("explore"), (wish) => this.#explore(wish));
    this.composer = new Composer(part("composer"), (instruction, how) => this.#send(instruction, how));
    this.sessionList = new SessionList(part("sidebar"), {
      open: (battleId) => this.open(battleId, { push: true }),
      start: () => this.#openSession({ push: true }),
      page: root.dataset.page,
    });
    root.addEventListener("click", ({ target }) => {
      if (target.closest("[data-action=send-again]")) this.#sendAgain();
    });
    listenToKeys({
      tools: this.tools,
      vote: (vote) => this.votePanel.cast(vote),
      next: () => this.#nextBattle(),
      write: () => this.composer.focus(),
    });
    this.stage.addEventListener("turn", () => this.#momentChanged());
    this.stageRegion.addEventListener("viewer:moment", () => this.#momentChanged());
    window.addEventListener("popstate", () => this.#openFromAddress());
    const repaint = () => this.stage.replay?.refreshTheme();
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
    document.addEventListener("themechange", repaint);
  }

  get battle() {
    return this.state.battle;
  }

  async start() {
    this.render();
    const { robot, scene, battle } = this.#root.dataset;
    this.stage.load(robot, scene);
    if (this.#shared) await this.#openShared(battle);
    else if (battle) await this.open(battle);
    else await this.#openUntouchedOrNew();
  }

  /** Somebody's voted battle, to look at. */
  get #shared() {
    return "shared" in this.#root.dataset;
  }

  async #openShared(battleId) {
    this.notices.clear();
    try {
      this.#take({ type: "snapshot", battle: await this.#api.sharedBattle(battleId) });
    } catch (error) {
      this.#fail(error, () => this.#openShared(battleId));
    }
  }

  /** The last battle asked for wins, whichever answers first. */
  async open(battleId, { push = false } = {}) {
    this.#opening += 1;
    const wish = this.#opening;
    this.#feed?.dispose();
    this.#feed = null;
    this.#chosenTurn = null;
    this.state = emptyState();
    this.#seen = new Set();
    this.#effect = null;
    this.votePanel.forget();
    this.notices.clear();
    this.render();
    try {
      const battle = await this.#api.battle(battleId);
      if (wish !== this.#opening) return;
      const address = `${this.#root.dataset.page}/${battleId}${location.search}`;
      if (push) history.pushState(null, "", address);
      else history.replaceState(null, "", address);
      this.#take({ type: "snapshot", battle });
      this.#follow(battleId);
    } catch (error) {
      if (wish !== this.#opening) return;
      this.#fail(error, () => this.open(battleId, { push }));
    }
    this.#refreshSessions();
  }

  /** Opening the page opens a session; one that was opened and never used is taken up again. */
  async #openUntouchedOrNew() {
    this.render();
    try {
      this.#sessions.own = await this.#api.ownSessions();
      const untouched = this.#sessions.own.find(({ title, last_battle_id }) => !title && last_battle_id);
      if (untouched) await this.open(untouched.last_battle_id);
      else await this.#openSession();
    } catch (error) {
      this.#fail(error, () => this.#openUntouchedOrNew());
    }
  }

  async #openSession(options) {
    try {
      const { robot, scene } = this.#root.dataset;
      const { battle_id } = await this.#api.openSession(robot, scene);
      await this.open(battle_id, options);
      if (options?.push) this.composer.focus();
    } catch (error) {
      this.#fail(error, () => this.#openSession(options));
    }
  }

  #openFromAddress() {
    const battleId = location.pathname.slice(this.#root.dataset.page.length + 1);
    if (battleId) this.open(battleId);
  }

  #follow(battleId) {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const url = `${scheme}//${location.host}${this.#root.dataset.socket}${battleId}/`;
    this.#feed = new BattleFeed(url, () => this.#api.battle(battleId));
    this.#feed.addEventListener("message", ({ detail }) => this.#take(detail));
    this.#feed.addEventListener("connection", () => this.notices.connection(this.#feed.connected));
    this.#feed.addEventListener("refused", () => this.#fail({ code: "not_found" }));
  }

  #take(message) {
    const before = this.state;
    this.state = reduce(before, message);
    if (message.type === "rollout.frames") {
      if (this.state !== before) this.#showFrame(message.turn_id);
      return;
    }
    for (const turn of this.battle?.turns ?? []) this.#release.hear(turn, { justNow: message.type === "rollout.started" });
    if (this.state.needsSnapshot) this.#feed?.ask();
    if (this.#feed) this.#feed.waiting = (this.battle?.turns ?? []).some(isOpen);
    this.render();
  }

  /** Only the pictures and how far they are: all else stays as it is. */
  #showFrame(turnId) {
    this.#noteFrames(this.battle.turns.find(({ turn_id }) => turn_id === turnId));
    this.#showTurn();
    this.#renderRelease();
  }

  #noteFrames(turn) {
    const last = this.state.frames[turn.turn_id]?.at(-1);
    const step = last ? this.stage.stepOf(last) : null;
    if (step !== null) this.#release.came(turn, step);
  }

  #showTurn() {
    const turn = this.shownTurn;
    this.stage.show(turn, this.state.frames[turn?.turn_id] ?? [], { exact: Boolean(this.battle.vote) });
  }

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
    const several = hasSeveral(battle) && battle.status === "ongoing";
    this.composer.render({ phase, several, canVote: Boolean(battle?.can_vote), blocked: whyNotSend(battle) });
    if (battle) {
      this.turnTabs.render(battle, turn);
      this.votePanel.render(battle, whyNotVote(battle, this.#unseen));
      this.verdict.render(battle, turn);
      this.verdict.renderEffect(this.#effect);
      this.explorePanel.render(battle, turn, this.stage.moment);
      this.#showTurn();
      this.#renderRelease();
    }
    if (phase !== this.#phase) this.#phaseChanged(phase);
  }

  /** What goes on by itself while a turn runs. */
  #renderRelease() {
    const { battle, shownTurn } = this;
    const hearing = Boolean(this.#feed?.connected && this.stage.manifest);
    const released = (turn) => (turn ? this.#release.step(turn, hearing) : null);
    const now = underWay(battle);
    this.tools.render(battle, now, released(now));
    for (const panel of Object.values(this.panels)) panel.render(battle, shownTurn, released(shownTurn));
    const runs = battle.turns.some(({ status }) => status === "running");
    if (!runs) clearInterval(this.#ticking);
    this.#ticking = runs ? (this.#ticking ?? setInterval(() => this.battle && this.#renderRelease(), UPDATE_EVERY)) : null;
  }

  #phaseChanged(phase) {
    const before = this.#phase;
    this.#phase = phase;
    this.announcer.textContent = sayPhase(phase, this.battle);
    if (before !== "loading") this.#refreshSessions();
    if (phase === "voted") this.#learnEffect();
    if (phase === "voted" && before === "settled") this.verdict.focus();
  }

  /** A vote needs both replays on the screen once, of a turn that both sides completed; of several starts each, be it live. */
  #momentChanged() {
    const { moment } = this.stage;
    const { battle } = this;
    if (moment && (moment.settled || hasSeveral(battle))) this.#seen.add(moment.turnId);
    if (!battle) return;
    this.votePanel.render(battle, whyNotVote(battle, this.#unseen));
    this.explorePanel.render(battle, this.shownTurn, moment);
  }

  /** Whether something has to be seen before the vote. */
  get #unseen() {
    const unseen = stillToBeSeen(this.battle, this.#seen);
    return hasSeveral(this.battle) ? unseen.length > 0 : unseen.length === this.battle.turns.filter(isCompleted).length;
  }

  /** A word about the pair; where it cannot be had, nothing is missed. */
  async #learnEffect() {
    const { battle_id } = this.battle;
    try {
      const effect = await this.#api.effect(battle_id);
      if (this.battle?.battle_id !== battle_id) return;
      this.#effect = effect;
      this.verdict.renderEffect(effect);
    } catch {
      // The vote stands; what it meets is told next time.
    }
  }

  #stageReady() {
    this.tools.attach();
    this.notices.engine(this.stage.engineMismatch);
    for (const turn of this.battle?.turns ?? []) this.#noteFrames(turn); // those that came before it was known how to read them
    this.render();
  }

  /** @param {{start: string, several: boolean}} how a follow-up turn starts, or whether a battle has several starts */
  async #send(instruction, { start, several }) {
    this.notices.clear();
    try {
      if (this.battle.status !== "ongoing") {
        const { battle_id } = await this.#api.nextBattle(this.battle.session_id);
        await this.open(battle_id, { push: true });
        if (!this.battle) return false; // it could not be opened, and the page says why
      }
      const begun = this.battle.turns.length > 0 ? this.battle.start_count : null;
      await this.#api.sendInstruction(this.battle.battle_id, instruction, start, begun ?? (several ? SEVERAL : 1));
    } catch (error) {
      this.#refused(error);
      return false;
    }
    this.#chosenTurn = null;
    this.#awaitTurn();
    this.stageRegion.focus({ preventScroll: true });
    return true;
  }

  /** News of the turn that was sent is due, unless it has come already. */
  #awaitTurn() {
    if (!this.#feed) return;
    this.#feed.waiting = true;
    if (!this.#feed.connected) this.#feed.ask();
  }

  #sendAgain() {
    const { instruction, start } = this.battle.turns.at(-1);
    this.#send(instruction, { start });
  }

  async #explore(wish) {
    this.notices.clear();
    try {
      await this.#api.explore(this.battle.battle_id, wish);
    } catch (error) {
      this.#refused(error);
      return false;
    }
    this.#chosenTurn = null;
    this.#awaitTurn();
    this.stageRegion.focus();
    return true;
  }

  async #nextBattle() {
    if (!this.battle || this.battle.status === "ongoing" || this.#shared) return;
    try {
      const { battle_id } = await this.#api.nextBattle(this.battle.session_id);
      await this.open(battle_id, { push: true });
      this.composer.focus();
    } catch (error) {
      this.#fail(error);
    }
  }

  async #vote(vote, reasons) {
    this.notices.clear();
    try {
      await this.#api.vote(this.battle.battle_id, vote, reasons);
      this.#feed?.ask();
    } catch (error) {
      this.#refused(error);
    }
  }

  /** What stands here may be old, when another tab went on with the battle: says why, and asks how things are. */
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
      // The list is a convenience; what failed shows itself where it matters.
    }
  }

  /** @param {Error} error @param {() => void} [retry] what to do again when asked */
  #fail(error, retry) {
    if (!("code" in error)) throw error;
    const missing = error.code === "not_found" && !this.battle;
    this.notices.error(explainError(error), { code: error.code, retry: missing ? undefined : retry });
    if (missing) this.#root.dataset.phase = "missing";
  }
}

const isCompleted = ({ status }) => status === "completed";
