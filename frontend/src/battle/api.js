// Calls of the JSON API. A failure is an ApiError with the server's own word for it.

import { answering } from "./challenge.js";

export class ApiError extends Error {
  /** @param {number} status 0: no answer at all @param {number | null} retryAfter when to try again [s], if the server said */
  constructor(status, { code, detail, longest = null, challenge = null }, retryAfter = null) {
    super(detail);
    this.status = status;
    this.code = code;
    this.longest = longest;
    this.retryAfter = retryAfter;
    this.challenge = challenge; // what the server asks before it serves the call: see challenge.js
  }
}

export class Api {
  /** @param {string} root "/api/" */
  constructor(root) {
    this.root = root;
  }

  openSession(robot_id, scene_id) {
    return this.#send("sessions/init", { robot_id, scene_id });
  }

  async ownSessions() {
    return (await this.#get("sessions/?mine")).results;
  }

  session(sessionId) {
    return this.#get(`sessions/${sessionId}`);
  }

  nextBattle(sessionId) {
    return this.#send(`sessions/${sessionId}/battles`, {});
  }

  battle(battleId) {
    return this.#get(`battles/${battleId}`);
  }

  sendInstruction(battleId, instruction, start, starts) {
    return this.#send(`battles/${battleId}/turns`, { instruction, start, starts });
  }

  vote(battleId, vote, reasons) {
    return this.#send("votes", { battle_id: battleId, vote, reasons });
  }

  /** @param {{turn_id?: string, record?: number, seed?: number, instruction?: string}} wish */
  explore(battleId, wish) {
    return this.#send(`battles/${battleId}/explorations`, wish);
  }

  /** What the counted votes say about the pair of a voted battle. */
  effect(battleId) {
    return this.#get(`battles/${battleId}/effect`);
  }

  /** A voted battle of whomever, in the shape of one's own: nothing can be done with it. */
  async sharedBattle(battleId) {
    const closed = { can_vote: false, vote_blocked_because: "already_voted", can_send: false, can_explore: false };
    const battle = await this.#get(`shared/${battleId}`);
    return { ...battle, ...closed, session_id: null, status: "voted", seq: 0, start_count: battle.starts?.length ?? 1 };
  }

  scene(robotId, sceneId) {
    return this.#get(`scenes/${robotId}/${sceneId}/`);
  }

  /** What is seen of a side: see viewer/view.js. */
  async view(episodeId) {
    return (await this.#call(`episodes/${episodeId}/view.bin`)).arrayBuffer();
  }

  /** All that physics needs of a side, after the vote: see viewer/recording.js. */
  async replay(episodeId) {
    return (await this.#call(`episodes/${episodeId}/replay.bin`)).arrayBuffer();
  }

  cancelTurn(turnId) {
    return this.#send(`turns/${turnId}/cancel`, {});
  }

  queue(turnId) {
    return this.#get(`turns/${turnId}/queue`);
  }

  async #get(path) {
    return (await this.#call(path)).json();
  }

  async #send(path, body) {
    const headers = { "Content-Type": "application/json" };
    const options = { method: "POST", body: JSON.stringify(body) };
    return (await answering((more) => this.#call(path, { ...options, headers: { ...headers, ...more } }))).json();
  }

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

async function errorBody(response) {
  try {
    const body = await response.json();
    if (body.code) return body;
  } catch {
    // Not JSON: a proxy or a crash answered, not the API.
  }
  return { code: `http_${response.status}`, detail: `The server answered ${response.status}.` };
}
