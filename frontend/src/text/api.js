// API calls of text only.

import { Api } from "../core/api.js";

export class TextApi extends Api {
  /** A recorded answer. @param {string} episodeId @returns {Promise<{text: string, liked: boolean}>} */
  answer(episodeId) {
    return this.get(`episodes/${episodeId}`);
  }

  /** @param {string} episodeId @param {boolean} liked */
  like(episodeId, liked) {
    return this.send(`episodes/${episodeId}/like`, { liked }, "PUT");
  }

  /** Has the last turn answered again. @param {string} battleId @param {string} side "left", "right", or "" for both */
  again(battleId, side) {
    return this.send(`battles/${battleId}/again`, side ? { side } : {});
  }
}
