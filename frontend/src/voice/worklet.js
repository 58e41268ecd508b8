// Audio of a call in the thread that renders it: the microphone at 16 kHz in pieces, and the agent's stream without gaps.
// Contexts run at the device's own rate, because Firefox connects no microphone to a context of another one.

const RATE = 16000;
/** Samples of a piece of the microphone, 40 ms. */
const PIECE = 640;
/** Seconds that are buffered before playing (on), and the most: what is older is dropped, so that nothing is heard late. */
const FILL_S = 0.15;
const MOST_S = 0.8;

/** Resamples linearly, after a mean over the samples of a step where the rate falls. */
class Resampler {
  /** @param {number} from @param {number} to [Hz] */
  constructor(from, to) {
    this.step = from / to;
    this.at = 0;
    this.last = 0;
    this.smooth = Math.max(1, Math.floor(this.step));
    /** @type {number[]} */
    this.sum = [];
  }

  /** @param {Float32Array} samples @returns {number[]} */
  take(samples) {
    const out = [];
    for (const sample of samples) {
      this.sum.push(sample);
      if (this.sum.length > this.smooth) this.sum.shift();
      const now = this.sum.reduce((total, each) => total + each, 0) / this.sum.length;
      while (this.at < 1) {
        out.push(this.last + (now - this.last) * this.at);
        this.at += this.step;
      }
      this.at -= 1;
      this.last = now;
    }
    return out;
  }
}

class Microphone extends AudioWorkletProcessor {
  constructor() {
    super();
    this.resampler = new Resampler(sampleRate, RATE);
    this.piece = new Int16Array(PIECE);
    this.filled = 0;
  }

  /** @param {Float32Array[][]} inputs */
  process([[samples]]) {
    if (!samples) return true;
    for (const sample of this.resampler.take(samples)) {
      this.piece[this.filled++] = Math.round(Math.max(-1, Math.min(1, sample)) * 32767);
      if (this.filled === PIECE) {
        this.port.postMessage(this.piece.slice());
        this.filled = 0;
      }
    }
    return true;
  }
}

class Loudspeaker extends AudioWorkletProcessor {
  constructor() {
    super();
    this.resampler = new Resampler(RATE, sampleRate);
    /** @type {number[]} */
    this.waiting = [];
    this.filling = true;
    this.gaps = 0;
    this.began = false;
    /** @param {MessageEvent<"clear" | Int16Array>} event */
    this.port.onmessage = ({ data }) => (data === "clear" ? this.clear() : this.take(data));
  }

  clear() {
    this.waiting.length = 0;
    this.filling = true;
  }

  /** @param {Int16Array} piece */
  take(piece) {
    this.waiting.push(...this.resampler.take(Float32Array.from(piece, (sample) => sample / 32768)));
    const most = MOST_S * sampleRate;
    if (this.waiting.length > most) this.waiting.splice(0, this.waiting.length - Math.round(FILL_S * sampleRate));
    if (this.filling && this.waiting.length >= FILL_S * sampleRate) {
      this.filling = false;
      this.began = true;
    }
  }

  /** @param {Float32Array[][]} _inputs @param {Float32Array[][]} outputs */
  process(_inputs, [[output]]) {
    if (this.filling) return true;
    const now = this.waiting.splice(0, output.length);
    output.set(now);
    if (now.length < output.length) {
      this.filling = true;
      this.gaps += 1;
      this.port.postMessage({ gaps: this.gaps });
    }
    return true;
  }
}

registerProcessor("microphone", Microphone);
registerProcessor("loudspeaker", Loudspeaker);
