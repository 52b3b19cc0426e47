// What models say of each side: its loop, and the course of the fluid.

import { Side } from "./side.js";

export class Theory {
  /** By side: a loop, and why there is none. */
  loops = {};
  why = {};
  /** By side: `time_s` and `queue_s` of the fluid model. */
  fluids = {};
  #module;
  #engine;
  #generation = 0;
  #asked = "";
  #changed;

  /**
   * @param {WebAssembly.Module} module
   * @param {() => void} changed there is more to see
   */
  constructor(module, changed) {
    this.#module = module;
    this.#changed = changed;
  }

  /**
   * Asks anew. What is still worked out is given up.
   *
   * @param {Record<string, string>} scenarios texts by side
   * @param {string[]} whole the sides whose scenario holds from the start of the run
   */
  async ask(scenarios, whole) {
    const asked = JSON.stringify([scenarios, whole]);
    if (asked === this.#asked) return;
    this.#asked = asked;
    const mine = ++this.#generation;
    const old = this.#engine;
    Object.assign(this, { loops: {}, why: {}, fluids: {} });
    this.#changed();
    old?.then((side) => side.close("no longer asked"));
    this.#engine = Side.open(this.#module);
    const engine = await this.#engine;
    const names = Object.keys(scenarios);
    for (const [what, found, sides] of [
      [this.#loop, this.loops, names],
      [this.#fluid, this.fluids, whole],
    ]) {
      for (const name of sides) {
        try {
          const answer = await what(engine, scenarios[name]);
          if (mine !== this.#generation) return;
          found[name] = answer;
        } catch (error) {
          if (mine !== this.#generation) return;
          if (found === this.loops) this.why[name] = error.message;
        }
        this.#changed();
      }
    }
  }

  #loop(engine, toml) {
    return engine.nyquist(toml);
  }

  async #fluid(engine, toml) {
    const simulation = await engine.fluid(await engine.changed(toml, { "probes.queues": true }));
    const { time_s, link, packets, bytes, rate_bps } = await simulation.rows("queues");
    const place = Math.max(0, simulation.names.link.indexOf("bottleneck"));
    await simulation.forget();
    const rows = Array.from(time_s.keys()).filter((row) => link[row] === place);
    const of = (value) => rows.map(value);
    return {
      time_s: of((row) => time_s[row]),
      queue_packets: of((row) => packets[row]),
      queue_s: of((row) => (8 * bytes[row]) / rate_bps[row]),
    };
  }
}
