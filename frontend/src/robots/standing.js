// Where both sides stand while they have no recording to show: the battle's first state, or the end of an earlier turn.

import { ApiError } from "../core/api.js";
import { decodeRow } from "../viewer/view.js";

/**
 * @import { BattleJson, BattleStart, TurnJson } from "../core/wire.d.ts"
 * @import { BySide } from "../viewer/sides.js"
 * @import { ViewFormat } from "../viewer/view.js"
 * @import { RobotApi } from "./api.js"
 *
 * @typedef {{turn: TurnJson, record: number | null}} Ground a record of a turn, null: where each side ended
 */

/** Pauses between questions for a start that is not made yet [ms]. */
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 3_000;
/** Each is so much longer than the one before: by at most this share of the wait the answer comes too late. */
const GROWTH = 1.25;

/**
 * The turn on whose ground a turn is played, or would be; null: the battle's first state.
 * @param {BattleJson} battle @param {TurnJson | undefined} turn @returns {Ground | null}
 */
export function groundOf({ turns }, turn) {
  if (!turn) return null;
  if (turn.exploration) {
    const { turn_id, record } = turn.exploration;
    const from = turns.find((each) => each.turn_id === turn_id);
    return from ? { turn: from, record } : null;
  }
  if (turn.start === "reset" && !turn.start_number) return null;
  const before = turns.findLast(({ seq, status, exploration }) => seq < turn.seq && status === "completed" && !exploration);
  return before ? { turn: before, record: null } : null;
}

/** A name for that place, which changes with it. @param {BattleJson} battle @param {Ground | null} ground */
export function nameOfGround({ battle_id }, ground) {
  return ground ? `${ground.turn.turn_id} ${ground.record ?? "end"}` : `${battle_id} start`;
}

/** The first states of battles, asked for once each, until they are made. */
export class Starts {
  #api;
  /** @type {{battleId: string, start: Promise<BattleStart | null>} | null} */
  #asked = null;

  /** @param {RobotApi} api */
  constructor(api) {
    this.#api = api;
  }

  /** Asks for the start of a battle, the only one wanted from now on. @param {string} battleId */
  want(battleId) {
    if (this.#asked?.battleId !== battleId) this.#asked = { battleId, start: this.#ask(battleId) };
    return this.#asked.start;
  }

  /**
   * Both sides' positions; null if the battle has no start that can be told, or another one is wanted by now.
   * @param {string} battleId @param {ViewFormat} format @returns {Promise<BySide<Float64Array> | null>}
   */
  async qpos(battleId, format) {
    const row = (await this.want(battleId))?.start;
    if (!row) return null;
    const qpos = decodeRow(row, format);
    return { left: qpos, right: qpos };
  }

  /** @param {string} battleId @returns {Promise<BattleStart | null>} */
  async #ask(battleId) {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(GROWTH * pause, LONGEST_PAUSE)) {
      try {
        const start = await this.#api.start(battleId);
        if (start.start !== null) return start;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.status === 404 || error.status === 422) return null;
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (this.#asked?.battleId !== battleId) return null;
    }
  }
}
