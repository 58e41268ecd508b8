// The waveform of a call: peaks of the last seconds, the agent above the line and the visitor below it.

const BARS = 120;

export class Wave {
  #canvas;
  /** @type {{agent: number, caller: number}[]} */
  #bars = [];

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.#canvas = canvas;
  }

  /** @param {number} agent @param {number} caller peaks, 0 to 1 */
  add(agent, caller) {
    this.#bars.push({ agent, caller });
    if (this.#bars.length > BARS) this.#bars.shift();
    this.#draw();
  }

  clear() {
    this.#bars = [];
    this.#draw();
  }

  #draw() {
    const context = this.#canvas.getContext("2d");
    if (!context) return;
    const { width, height } = this.#canvas;
    const middle = height / 2;
    const step = width / BARS;
    const style = getComputedStyle(this.#canvas);
    context.clearRect(0, 0, width, height);
    this.#bars.forEach(({ agent, caller }, index) => {
      const x = width - (this.#bars.length - index) * step;
      context.fillStyle = style.color;
      context.fillRect(x, middle - Math.sqrt(agent) * middle, step - 1, Math.max(1, Math.sqrt(agent) * middle));
      context.fillStyle = style.getPropertyValue("--soft");
      context.fillRect(x, middle, step - 1, Math.max(1, Math.sqrt(caller) * middle));
    });
  }
}
