// The microphone and the loudspeaker of a call.

/**
 * @typedef {object} Ears
 * @property {(piece: Int16Array) => void} heard 40 ms of the microphone
 */

/** How long a browser may take to begin to play. One without any loudspeaker never does. */
const STARTS_MS = 5000;

/** The browser plays nothing. */
export class NoSound extends Error {}

export class Audio {
  /** Whether there is a microphone; without one words are typed. */
  hasMicrophone = false;
  muted = false;
  /** How often playback ran dry. */
  gaps = 0;
  #context;
  /** @type {AudioWorkletNode | null} */
  #loudspeaker = null;
  /** @type {MediaStream | null} */
  #stream = null;

  /** To be made while a click is handled: browsers let no page sound before. */
  constructor() {
    this.#context = new AudioContext({ latencyHint: "interactive" });
  }

  /**
   * Throws NoSound.
   *
   * @param {string} worklet its address @param {Ears["heard"]} heard
   * @param {{microphone: string, speaker: string}} devices ids, "" for the usual ones
   */
  async open(worklet, heard, { microphone, speaker }) {
    await this.#context.audioWorklet.addModule(worklet);
    await this.#start();
    const out = new AudioWorkletNode(this.#context, "loudspeaker", { numberOfInputs: 0, outputChannelCount: [1] });
    out.port.onmessage = ({ data }) => {
      this.gaps = data.gaps;
    };
    out.connect(this.#context.destination);
    this.#loudspeaker = out;
    await this.#chooseSpeaker(speaker);
    await this.#listen(heard, microphone);
  }

  async #start() {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const late = new Promise((_, refuse) => {
      timer = setTimeout(() => refuse(new NoSound()), STARTS_MS);
    });
    try {
      await Promise.race([this.#context.resume(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param {string} id */
  async #chooseSpeaker(id) {
    const context = /** @type {AudioContext & {setSinkId?: (id: string) => Promise<void>}} */ (this.#context);
    if (!id || !context.setSinkId) return;
    try {
      await context.setSinkId(id);
    } catch {
      // It was unplugged: the usual one plays.
    }
  }

  /** @param {Ears["heard"]} heard @param {string} microphone */
  async #listen(heard, microphone) {
    const wanted = { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true };
    const audio = microphone ? { ...wanted, deviceId: { exact: microphone } } : wanted;
    try {
      this.#stream = await navigator.mediaDevices.getUserMedia({ audio });
    } catch {
      return; // refused, or there is none: words are typed
    }
    this.hasMicrophone = true;
    const node = new AudioWorkletNode(this.#context, "microphone", { numberOfOutputs: 0 });
    node.port.onmessage = ({ data }) => heard(this.muted ? new Int16Array(data.length) : data);
    this.#context.createMediaStreamSource(this.#stream).connect(node);
  }

  /** @param {Int16Array} piece of the agent's stream */
  play(piece) {
    this.#loudspeaker?.port.postMessage(piece, [piece.buffer]);
  }

  /** Drops what is not played yet: the visitor has interrupted. */
  clear() {
    this.#loudspeaker?.port.postMessage("clear");
  }

  close() {
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#context.close();
  }
}

/** The peak of a piece, 0 to 1. @param {Int16Array} piece */
export const peak = (piece) => piece.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0) / 32768;

/** Microphones and loudspeakers to choose from. Browsers name them once a page has been allowed to listen. */
export async function devices() {
  const all = (await navigator.mediaDevices?.enumerateDevices?.()) ?? [];
  const named = all.filter(({ deviceId, label }) => deviceId && label);
  return { microphones: named.filter(({ kind }) => kind === "audioinput"), speakers: named.filter(({ kind }) => kind === "audiooutput") };
}
