// The grain of a wooden table top, computed in a few milliseconds: boards along x, each with fibres of its own. Pure.

/** Pixels along the fibres, which change slowly, and across them. */
const [LENGTH, WIDTH] = [256, 512];
const BOARDS = 6;
/** How much darker than the lightest wood the darkest fibre, the darkest board, and the gap between boards are. */
const [GRAIN, SHADES, GAP] = [0.13, 0.08, 0.28];
/** The share of the sheet by which fibres bend up and down. */
const BEND = 0.014;
const FIBRES = 4096;
const OCTAVES = [6, 17, 53, 160, 512];

/**
 * Shades that a colour is multiplied by, as RGBA pixels. The sheet continues at its edges.
 * @returns {{pixels: Uint8Array<ArrayBuffer>, width: number, height: number}}
 */
export function woodGrain() {
  const pixels = new Uint8Array(4 * LENGTH * WIDTH);
  const fibres = fibreProfile();
  const bend = Float32Array.from({ length: LENGTH }, (_, x) => BEND * FIBRES * bendAt(x / LENGTH));
  for (let y = 0; y < WIDTH; y += 1) {
    const across = (y * BOARDS) / WIDTH;
    const board = Math.floor(across);
    const edge = Math.min(across - board, 1 - (across - board)) * (WIDTH / BOARDS);
    const shade = 1 - SHADES * hash(board) - GAP * Math.max(0, 1 - edge / 1.2);
    const shift = Math.floor(LENGTH * hash(board + 40));
    const from = FIBRES * hash(board + 80) + (across * FIBRES) / BOARDS;
    for (let x = 0; x < LENGTH; x += 1) {
      const place = from + bend[(x + shift) % LENGTH] * (1 + board / BOARDS);
      const light = shade - GRAIN * fibres[Math.floor(place + FIBRES) % FIBRES];
      const at = 4 * (y * LENGTH + x);
      pixels[at] = 255 * light;
      pixels[at + 1] = 255 * (light - 0.12 * (1 - light)); // dark wood is redder than light wood
      pixels[at + 2] = 255 * (light - 0.3 * (1 - light));
      pixels[at + 3] = 255;
    }
  }
  return { pixels, width: LENGTH, height: WIDTH };
}

/** Fibres side by side, 0 light to 1 dark: coarse and fine noise that meets itself at the end. */
function fibreProfile() {
  const profile = new Float32Array(FIBRES);
  for (const [octave, count] of OCTAVES.entries()) {
    for (let i = 0; i < FIBRES; i += 1) {
      const at = (i * count) / FIBRES;
      const left = Math.floor(at);
      const share = at - left;
      const [one, other] = [hash(octave * 1000 + left), hash(octave * 1000 + ((left + 1) % count))];
      profile[i] += (one + (other - one) * share * share * (3 - 2 * share)) / OCTAVES.length;
    }
  }
  return profile.map((value) => Math.min(1, Math.max(0, 2.2 * value - 0.6)));
}

/** Waves with whole numbers of periods. @param {number} at 0 to 1 */
function bendAt(at) {
  return [1, 2, 5].reduce((sum, periods, i) => sum + Math.sin(2 * Math.PI * (periods * at + hash(i + 11))) / periods, 0);
}

/** A number from 0 to 1 that looks random, the same at every call. @param {number} seed */
function hash(seed) {
  const value = Math.sin(seed * 127.1 + 311.7) * 43758.5453;
  return value - Math.floor(value);
}
