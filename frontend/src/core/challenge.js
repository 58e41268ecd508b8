// The challenge for networks that have cast many votes today, and the repetition of a call with its solution.

const HEADER = "Challenge-Answer";
const SLICE_MS = 20;

/** @typedef {{kind: string, token: string, bits: number}} Challenge */

/**
 * Makes a call. If the server sends a challenge, solves it and repeats the call.
 * @template T @param {(headers: Record<string, string>) => Promise<T>} call @returns {Promise<T>}
 */
export async function answering(call) {
  try {
    return await call({});
  } catch (error) {
    const challenge = /** @type {{challenge?: Challenge | null}} */ (error).challenge;
    if (challenge?.kind !== "proof-of-work") throw error;
    return call({ [HEADER]: await proofOfWork(challenge) });
  }
}

/**
 * Finds "TOKEN.COUNTER" whose SHA-256 begins with this many zero bits. Works in slices that keep the page responsive.
 * @param {Pick<Challenge, "token" | "bits">} challenge
 */
export async function proofOfWork({ token, bits }) {
  const hash = hasher(`${token}.`);
  for (let counter = 0; ; ) {
    for (const end = performance.now() + SLICE_MS; performance.now() < end; ) {
      for (let tries = 0; tries < 500; tries++, counter++) {
        if (leadingZeros(hash(String(counter))) >= bits) return `${token}.${counter}`;
      }
    }
    await new Promise((resume) => setTimeout(resume));
  }
}

/** @param {Int32Array} words a hash, the first word first */
export function leadingZeros(words) {
  let zeros = 0;
  for (const word of words) {
    zeros += Math.clz32(word);
    if (word !== 0) return zeros;
  }
  return zeros;
}

/**
 * SHA-256 (FIPS 180-4) of texts with a common prefix, whose whole blocks are hashed once. Pages without TLS lack
 * `crypto.subtle`, and its calls take longer than these hashes.
 * @param {string} prefix ASCII, as what is added to it @returns {(rest: string) => Int32Array} the hash, in one array
 */
export function hasher(prefix) {
  const begun = Int32Array.from(INITIAL);
  const state = new Int32Array(8);
  const words = new Int32Array(64);
  const whole = prefix.length - (prefix.length % 64);
  for (let at = 0; at < whole; at += 64) {
    put(words, prefix.slice(at, at + 64));
    compress(begun, words);
  }
  const tail = prefix.slice(whole);
  return (rest) => {
    state.set(begun);
    const length = tail.length + rest.length;
    const blocks = Math.ceil((length + 9) / 64);
    const text = `${tail}${rest}\x80`;
    for (let block = 0; block < blocks; block++) {
      put(words, text.slice(64 * block, 64 * block + 64));
      if (block === blocks - 1) words[15] = 8 * (whole + length);
      compress(state, words);
    }
    return state;
  };
}

/** @param {Int32Array} words @param {string} text */
function put(words, text) {
  words.fill(0, 0, 16);
  for (let at = 0; at < text.length; at++) words[at >> 2] |= text.charCodeAt(at) << (24 - 8 * (at & 3));
}

/** @param {Int32Array} state @param {Int32Array} words */
function compress(state, words) {
  for (let at = 16; at < 64; at++) {
    const early = words[at - 15];
    const late = words[at - 2];
    const one = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const two = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    words[at] = (words[at - 16] + one + words[at - 7] + two) | 0;
  }
  let a = state[0];
  let b = state[1];
  let c = state[2];
  let d = state[3];
  let e = state[4];
  let f = state[5];
  let g = state[6];
  let h = state[7];
  for (let at = 0; at < 64; at++) {
    const one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + CONSTANTS[at] + words[at];
    const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

/** @param {number} word @param {number} by */
const turn = (word, by) => (word >>> by) | (word << (32 - by));

/**
 * The first 32 bits of the fractional parts of roots of the first primes.
 * @param {number} count @param {(number: number) => number} root
 */
function fractions(count, root) {
  const found = [];
  for (let number = 2; found.length < count; number++) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= number; divisor++) isPrime &&= number % divisor !== 0;
    if (isPrime) found.push(((root(number) % 1) * 2 ** 32) | 0);
  }
  return found;
}

const INITIAL = fractions(8, Math.sqrt);
const CONSTANTS = Int32Array.from(fractions(64, Math.cbrt));
