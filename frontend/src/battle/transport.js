// Play, pause, step, scrub, speed, loop, camera: one row of controls over the one clock.

/** While playing, the position is written this often [ms]: writing it with every picture costs as much as the picture. */
const UPDATE_EVERY = 100;

export class Transport {
  #root;
  #clock = null;
  #shown = { at: 0, playing: false };
  #onChange = () => this.#showSometimes();

  /** @param {HTMLElement} root @param {(preset: string) => void} onCamera */
  constructor(root, onCamera) {
    this.#root = root;
    root.addEventListener("click", ({ target }) => {
      const name = target.closest("[data-transport]")?.dataset.transport;
      if (this.#clock && name) actions[name]?.(this.#clock);
    });
    this.#part("scrub").addEventListener("input", ({ target }) => this.#clock?.seek(Number(target.value)));
    this.#part("speed").addEventListener("change", ({ target }) => this.#clock?.setSpeed(Number(target.value)));
    this.#part("camera").addEventListener("change", ({ target }) => onCamera(target.value));
  }

  /** @param {import("../viewer/replay.js").Replay} replay */
  attach(replay) {
    this.detach();
    this.#clock = replay.clock;
    this.#clock.addEventListener("change", this.#onChange);
    this.#part("camera").replaceChildren(...replay.presets.map(({ id, label }) => new Option(label, id)));
    this.#show();
  }

  detach() {
    this.#clock?.removeEventListener("change", this.#onChange);
    this.#clock = null;
  }

  #showSometimes() {
    const { playing } = this.#clock;
    const now = performance.now();
    if (playing && this.#shown.playing && now - this.#shown.at < UPDATE_EVERY) return;
    this.#shown = { at: now, playing };
    this.#show();
  }

  #show() {
    const { time, duration, playing, loop, record, lastRecord, waiting } = this.#clock;
    const scrub = this.#part("scrub");
    scrub.max = String(duration);
    scrub.value = String(time);
    scrub.setAttribute("aria-valuetext", `${time.toFixed(1)} of ${duration.toFixed(1)} seconds, step ${record}`);
    scrub.style.setProperty("--played", duration > 0 ? `${(100 * time) / duration}%` : "0%");
    this.#root.dataset.playing = String(playing);
    this.#root.dataset.waiting = String(waiting);
    this.#part("play").setAttribute("aria-label", playing ? "Pause" : "Play");
    this.#part("loop").setAttribute("aria-pressed", String(loop));
    this.#part("time").textContent = `${time.toFixed(1)} / ${duration.toFixed(1)} s`;
    this.#part("step").textContent = `step ${record} of ${lastRecord}`;
    for (const control of this.#root.querySelectorAll("[data-needs-recording]")) control.disabled = duration === 0;
  }

  #part(name) {
    return this.#root.querySelector(`[data-part=${name}]`);
  }
}

const actions = {
  toggle: (clock) => clock.toggle(),
  back: (clock) => clock.step(-1),
  forward: (clock) => clock.step(1),
  start: (clock) => clock.seek(0),
  loop: (clock) => clock.setLoop(!clock.loop),
};
