// The page's state of one battle. Pure: (state, message) -> state. Snapshot + events = new snapshot.

/**
 * @import { BattleEvent, BattleJson, SideOfTurn, TurnJson } from "./wire.d.ts"
 * @import { Chunk, Kind } from "./kind.d.ts"
 * @typedef {{type: "snapshot", battle: BattleJson}} Snapshot
 * @typedef {Snapshot | BattleEvent | {type: string, turn_id: string}} Message
 * @typedef {object} State
 * @property {BattleJson | null} battle as `GET battles/{id}` answers it
 * @property {Record<string, Chunk[]>} chunks by turn, in order of arrival, without missed ones
 * @property {boolean} needsSnapshot whether events were missed, so that a snapshot is needed
 */

/** @returns {State} */
export function emptyState() {
  return { battle: null, chunks: {}, needsSnapshot: false };
}

/**
 * @param {State} state @param {Message} message of the battle's socket
 * @param {Pick<Kind, "chunkType" | "readChunk">} kind
 * @returns {State}
 */
export function reduce(state, message, kind) {
  try {
    if (message.type === kind.chunkType) return takeChunk(state, /** @type {{type: string, turn_id: string}} */ (message), kind);
    if (message.type === "snapshot") return takeSnapshot(state, /** @type {Snapshot} */ (message).battle);
    return takeEvent(state, /** @type {BattleEvent} */ (message));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // An incomplete message is treated like a lost one.
    return { ...state, needsSnapshot: true };
  }
}

/**
 * Chunks have no number: they do not change the battle, and missed ones are not sent again.
 * @param {State} state @param {{turn_id: string}} message @param {Pick<Kind, "readChunk">} kind
 */
function takeChunk(state, message, kind) {
  const { turn_id } = message;
  if (!state.battle?.turns.some((turn) => turn.turn_id === turn_id)) return state;
  try {
    const chunk = kind.readChunk(message);
    return { ...state, chunks: { ...state.chunks, [turn_id]: [...(state.chunks[turn_id] ?? []), chunk] } };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return state;
  }
}

/** @param {State} state @param {BattleEvent} message @returns {State} */
function takeEvent(state, message) {
  const { battle } = state;
  if (battle === null) return { ...state, needsSnapshot: true };
  if (message.seq <= battle.seq) return state;
  const changed = message.seq === battle.seq + 1 ? change(battle, message) : null;
  if (changed === null) return { ...state, needsSnapshot: true };
  // An event that changes the visitor's allowed actions contains them (`battle`).
  const allowedActions = "battle" in message ? message.battle : {};
  return {
    battle: checked({ ...changed, ...allowedActions, seq: message.seq }),
    chunks: withoutOpened(state.chunks, message),
    needsSnapshot: state.needsSnapshot,
  };
}

/** The battle, if it has the required fields. @param {BattleJson} battle */
function checked(battle) {
  const whole = typeof battle.battle_id === "string" && Number.isSafeInteger(battle.seq) && Array.isArray(battle.turns);
  if (!whole) throw new TypeError("a battle has an id, a number of events and turns");
  return battle;
}

/** @param {State} state @param {BattleJson} battle @returns {State} */
function takeSnapshot(state, battle) {
  checked(battle);
  const same = state.battle?.battle_id === battle.battle_id;
  if (same && state.battle && battle.seq < state.battle.seq) return state;
  return { battle, chunks: same ? state.chunks : {}, needsSnapshot: false };
}

/** @param {BattleJson} battle @param {BattleEvent} event @returns {BattleJson | null} null: an unknown event */
function change(battle, event) {
  switch (event.type) {
    case "turn.opened": {
      // A new turn, or a restart that replaces the turn with the same id.
      const others = battle.turns.filter(({ turn_id }) => turn_id !== event.turn.turn_id);
      return { ...battle, turns: [...others, event.turn].sort((a, b) => a.seq - b.seq) };
    }
    case "rollout.started":
      return changeTurn(battle, event.turn_id, (turn) => ({
        ...turn,
        status: "running",
        release_from: event.release_from,
        left: { ...turn.left, status: "running" },
        right: { ...turn.right, status: "running" },
      }));
    case "rollout.finished":
      return changeSide(battle, event, { status: "completed", steps: event.steps, error: null });
    case "rollout.failed":
      return changeSide(battle, event, { status: "failed", steps: event.steps, error: event.reason });
    case "turn.finished":
      // The event of a fork contains the whole turn, outcomes included.
      return changeTurn(battle, event.turn_id, (turn) => ({ ...turn, ...(event.turn ?? { status: event.status }) }));
    case "battle.voted": {
      const { vote, left_model, right_model, turns, secret, starts } = event;
      return { ...battle, vote, left_model, right_model, turns, secret, starts };
    }
    case "battle.evaluated":
      return { ...battle, turns: event.turns };
    case "battle.abandoned":
      return battle;
    default:
      return null;
  }
}

/** @param {BattleJson} battle @param {string} turnId @param {(turn: TurnJson) => TurnJson} change */
function changeTurn(battle, turnId, change) {
  return { ...battle, turns: battle.turns.map((turn) => (turn.turn_id === turnId ? change(turn) : turn)) };
}

/** @param {BattleJson} battle @param {{turn_id: string, side: "left" | "right"}} event @param {Partial<SideOfTurn>} news */
function changeSide(battle, { turn_id, side }, news) {
  return changeTurn(battle, turn_id, (turn) => ({ ...turn, [side]: { ...turn[side], ...news } }));
}

/** @param {Pick<TurnJson, "status">} turn */
export function isOpen({ status }) {
  return status === "queued" || status === "running";
}

/** Drops the chunks of a turn that was restarted. @param {State["chunks"]} chunks @param {BattleEvent} event */
function withoutOpened(chunks, event) {
  if (event.type !== "turn.opened") return chunks;
  const { [event.turn.turn_id]: _startsAgain, ...others } = chunks;
  return others;
}
