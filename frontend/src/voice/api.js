// API calls of voice only.

import { Api } from "../core/api.js";

/**
 * @typedef {object} Slot
 * @property {"a" | "b"} label
 * @property {"open" | "talking" | "ended" | "failed"} status
 * @property {number} tries_left
 * @typedef {object} SaidLine
 * @property {"caller" | "agent"} role
 * @property {string} text
 */

export class VoiceApi extends Api {
  /** @param {string} battleId @returns {Promise<{calls: Slot[]}>} */
  calls(battleId) {
    return this.get(`battles/${battleId}/calls`);
  }

  /** @param {string} battleId @param {string} label @param {boolean} mayPublish @returns {Promise<Slot & {socket: string}>} */
  call(battleId, label, mayPublish) {
    return this.send(`battles/${battleId}/calls`, { label, consent: true, may_publish: mayPublish });
  }

  /** What was said on a call. @param {string} episodeId @returns {Promise<{lines: SaidLine[], audio: {caller: string, agent: string} | null}>} */
  said(episodeId) {
    return this.get(`episodes/${episodeId}`);
  }
}
