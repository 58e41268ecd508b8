// API calls of text only.

import { Api } from "../core/api.js";

export class TextApi extends Api {
  /** A recorded answer. @param {string} episodeId @returns {Promise<{text: string}>} */
  answer(episodeId) {
    return this.get(`episodes/${episodeId}`);
  }
}
