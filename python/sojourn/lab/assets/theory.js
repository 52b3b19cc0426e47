// What models say of each side: its loop, and the course of the fluid.

import { Side } from "./side.js";
import { placeOf } from "./strip.js";

export class Theory {
  /** By side: a loop, and why there is none. */
  loops = {};
  why = {};
  /** By side: `time_s`, `queue_s` and `queue_packets` of the fluid model, up to a first change. */
  fluids = {};
  /** The fluid's courses that were worked out for the present starts, by scenario. */
  #courses = new Map();
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
   * @param {Record<string, {toml: string, until: number}>} starts by side: the scenario at its start,
   *   and the instant of its first change
   */
  async ask(scenarios, starts) {
    const asked = JSON.stringify([scenarios, starts]);
    if (asked === this.#asked) return;
    this.#asked = asked;
    const mine = ++this.#generation;
    const old = this.#engine;
    Object.assign(this, { loops: {}, why: {} });
    const present = new Set(Object.values(starts).map(({ toml }) => toml));
    for (const toml of this.#courses.keys()) if (!present.has(toml)) this.#courses.delete(toml);
    this.fluids = this.#known(starts);
    this.#changed();
    old?.then((side) => side.close("no longer asked"));
    this.#engine = Side.open(this.#module);
    const engine = await this.#engine;
    const still = () => mine === this.#generation;
    for (const [name, toml] of Object.entries(scenarios)) {
      try {
        const loop = await engine.nyquist(toml);
        if (still()) this.loops[name] = loop;
      } catch (error) {
        if (still()) this.why[name] = error.message;
      }
      if (!still()) return;
      this.#changed();
    }
    for (const { toml } of Object.values(starts)) {
      if (this.#courses.has(toml)) continue;
      // Where there is no model there is no course.
      const course = await this.#fluid(engine, toml).catch(() => undefined);
      if (!still()) return;
      this.#courses.set(toml, course);
      this.fluids = this.#known(starts);
      this.#changed();
    }
  }

  /** The courses that are known, each up to its first change. */
  #known(starts) {
    const found = Object.entries(starts).flatMap(([name, { toml, until }]) => {
      const course = this.#courses.get(toml);
      if (!course) return [];
      const end = placeOf(course.time_s, until);
      const cut = Object.entries(course).map(([column, values]) => [column, values.slice(0, end)]);
      return [[name, Object.fromEntries(cut)]];
    });
    return Object.fromEntries(found);
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
