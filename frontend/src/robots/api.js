// API calls of robots only: scenes, recordings, forks.

import { Api } from "../core/api.js";

/**
 * @import { BattleStart } from "../core/wire.d.ts"
 * @typedef {object} ForkRequest a record of a turn, or a seed
 * @property {string} [turn_id]
 * @property {number} [record]
 * @property {number} [seed]
 * @property {string} [instruction]
 * @property {string} [left_model_id] another policy than the battle's
 * @property {string} [right_model_id]
 * @property {Record<string, number[]>} [moved] thing -> x, y [m, robot's base frame], and its turn [rad]
 *
 * @typedef {object} ForkChoices what a fork may change
 * @property {{model_id: string, name: string}[]} models
 * @property {string[]} movable
 */

export class RobotApi extends Api {
  /** @param {string} robotId @param {string} sceneId @returns {Promise<import("../viewer/manifest.d.ts").Manifest>} */
  scene(robotId, sceneId) {
    return this.get(`scenes/${robotId}/${sceneId}/`);
  }

  /** What a battle begins with; `start` is null until it is made. @param {string} battleId @returns {Promise<BattleStart>} */
  start(battleId) {
    return this.get(`battles/${battleId}/start`);
  }

  /** The visible recording of a side: see viewer/view.js. @param {string} episodeId */
  view(episodeId) {
    return this.getBytes(`episodes/${episodeId}/view.bin`);
  }

  /** The exact recording of a side, available after the vote: see viewer/recording.js. @param {string} episodeId */
  replay(episodeId) {
    return this.getBytes(`episodes/${episodeId}/replay.bin`);
  }

  /** @param {string} battleId @returns {Promise<ForkChoices>} */
  forkChoices(battleId) {
    return this.get(`battles/${battleId}/explorations`);
  }

  /** @param {string} battleId @param {ForkRequest} request */
  fork(battleId, request) {
    return this.send(`battles/${battleId}/explorations`, request);
  }
}
