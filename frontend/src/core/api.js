// Calls of the JSON API. A failure is an ApiError with the server's code.

import { answering } from "./challenge.js";

/**
 * @import { BattleJson, CastVote, FeedbackJson, OpenedBattle, QueueJson, SentTurn } from "./wire.d.ts"
 * @import { SessionJson, SessionList, SharedBattle, TurnJson, VoteEffect } from "./wire.d.ts"
 * @import { Challenge } from "./challenge.js"
 * @typedef {{code: string, detail: string, longest?: number | null, unit?: string | null, challenge?: Challenge | null, missing?: string[], there?: string[]}} ErrorBody
 */

const JSON_BODY = { "Content-Type": "application/json" };

export class ApiError extends Error {
  /**
   * @param {number} status 0: no answer at all @param {ErrorBody} body
   * @param {number | null} retryAfter when to try again [s], if the server said
   */
  constructor(status, { code, detail, longest = null, unit = null, challenge = null, missing = [], there = [] }, retryAfter = null) {
    super(detail);
    this.status = status;
    this.code = code;
    this.longest = longest;
    this.unit = unit;
    this.retryAfter = retryAfter;
    this.missing = missing; // what an instruction is about and is not there, and what is
    this.there = there;
    this.challenge = challenge; // what the server requires before it serves the call: see challenge.js
  }
}

export class Api {
  /** @param {string} root "/api/" */
  constructor(root) {
    this.root = root;
  }

  /** @param {Record<string, string | undefined>} setting @returns {Promise<OpenedBattle>} */
  openSession(setting) {
    return this.send("sessions/init", setting);
  }

  async ownSessions() {
    return /** @type {SessionList} */ (await this.get("sessions/?mine")).results;
  }

  /** @param {string} sessionId @returns {Promise<SessionJson>} */
  session(sessionId) {
    return this.get(`sessions/${sessionId}`);
  }

  /** @param {string} sessionId @returns {Promise<OpenedBattle>} */
  nextBattle(sessionId) {
    return this.send(`sessions/${sessionId}/battles`, {});
  }

  /** @param {string} battleId @returns {Promise<BattleJson>} */
  battle(battleId) {
    return this.get(`battles/${battleId}`);
  }

  /**
   * @param {string} battleId @param {string} instruction @param {TurnJson["start"]} start @param {number} starts
   * @returns {Promise<SentTurn>}
   */
  sendInstruction(battleId, instruction, start, starts) {
    return this.send(`battles/${battleId}/turns`, { instruction, start, starts });
  }

  /** @param {string} battleId @param {string} vote @param {Record<string, unknown>} reasons @returns {Promise<CastVote>} */
  vote(battleId, vote, reasons) {
    return this.send("votes", { battle_id: battleId, vote, reasons });
  }

  /**
   * Sends a vote while the page is being left, when nothing can wait for the answer.
   * @param {string} battleId @param {string} vote @param {Record<string, unknown>} reasons
   */
  voteAndLeave(battleId, vote, reasons) {
    const options = { method: "POST", headers: JSON_BODY, body: JSON.stringify({ battle_id: battleId, vote, reasons }), keepalive: true };
    this.#call("votes", options).catch(() => {
      // Nobody is there to read it.
    });
  }

  /** What the visitor has added to the vote of a battle. @param {string} battleId @returns {Promise<FeedbackJson>} */
  feedback(battleId) {
    return this.get(`battles/${battleId}/feedback`);
  }

  /** @param {string} battleId @param {Pick<FeedbackJson, "reasons" | "why" | "progress">} feedback @returns {Promise<FeedbackJson>} */
  saveFeedback(battleId, feedback) {
    return this.send(`battles/${battleId}/feedback`, feedback, "PUT");
  }

  /**
   * The counted votes on the pair of a voted battle.
   * @param {string} battleId @returns {Promise<VoteEffect>}
   */
  effect(battleId) {
    return this.get(`battles/${battleId}/effect`);
  }

  /**
   * Anybody's voted battle, in the shape of one's own but without allowed actions.
   * @param {string} battleId @returns {Promise<BattleJson>}
   */
  async sharedBattle(battleId) {
    const battle = /** @type {SharedBattle} */ (await this.get(`shared/${battleId}`));
    return {
      ...battle,
      status: "voted",
      can_vote: false,
      vote_blocked_because: "already_voted",
      can_send: false,
      can_explore: false,
      session_id: "",
      secret: null,
      seq: 0,
      start_count: battle.starts?.length ?? 1,
    };
  }

  /** @param {string} turnId */
  cancelTurn(turnId) {
    return this.send(`turns/${turnId}/cancel`, {});
  }

  /** @param {string} turnId @returns {Promise<QueueJson>} */
  queue(turnId) {
    return this.get(`turns/${turnId}/queue`);
  }

  /** @protected @param {string} path */
  async get(path) {
    return (await this.#call(path)).json();
  }

  /** @protected @param {string} path */
  async getBytes(path) {
    return (await this.#call(path)).arrayBuffer();
  }

  /** @protected @param {string} path @param {object} body @param {"POST" | "PUT"} method */
  async send(path, body, method = "POST") {
    const options = { method, body: JSON.stringify(body) };
    return (await answering((more) => this.#call(path, { ...options, headers: { ...JSON_BODY, ...more } }))).json();
  }

  /** @param {string} path @param {RequestInit} options */
  async #call(path, options = {}) {
    let response;
    try {
      response = await fetch(this.root + path, { credentials: "same-origin", ...options });
    } catch {
      throw new ApiError(0, { code: "unreachable", detail: "The server did not answer." });
    }
    if (response.ok) return response;
    throw new ApiError(response.status, await errorBody(response), Number(response.headers.get("Retry-After")) || null);
  }
}

/** @param {Response} response @returns {Promise<ErrorBody>} */
async function errorBody(response) {
  try {
    const body = await response.json();
    if (body.code) return body;
  } catch {
    // Not JSON: the answer came from a proxy or a crash, not from the API.
  }
  return { code: `http_${response.status}`, detail: `The server answered ${response.status}.` };
}
