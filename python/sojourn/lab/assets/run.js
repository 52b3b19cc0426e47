// One side: a simulation under way, what was seen of it, and its end.

export const FLOWS = 4;
// What a copy has of the original at that instant, and none of both alters afterwards.
const SHARED = [
  ...["time", "duration", "asked", "changes", "links", "groups", "link"],
  ...["lost", "marked", "packets"],
];

export class Run {
  /** Seconds simulated so far. */
  time = 0;
  busy = false;
  done = false;
  /** What was seen, as columns; a row of windows for each flow. */
  columns = { time_s: [], windows: [] };
  /** Exchanges of web users that finished, in that order. */
  exchanges = { finished_s: [], response_time_s: [] };
  /** What the scenario itself changes. */
  changes = [];
  /** The instants at which something was changed. */
  marks = [];
  packets = undefined;
  lost = 0;
  marked = 0;
  side = undefined;
  simulation = undefined;
  summary = undefined;

  /**
   * @param {string} name
   * @param {Promise<import("./side.js").Side>} engine
   */
  constructor(name, engine) {
    Object.assign(this, { name, engine });
  }

  /** A simulation at its start; `scenario` gives its text with an engine to work it out. */
  async begin(scenario) {
    await this.#alone(async () => {
      this.side = await this.engine;
      this.simulation = await this.side.simulation(await scenario(this.side));
      this.duration = this.simulation.duration;
      this.links = this.simulation.names.link;
      this.groups = this.simulation.names.group.length;
      this.link = this.links.includes("bottleneck") ? "bottleneck" : this.links[0];
    });
  }

  /** Runs on and looks every `step`, and at the end at the packets that wait. */
  async advance(until, step) {
    await this.#alone(async () => {
      const { simulation, link } = this;
      const options = { flows: FLOWS, link };
      const seen = await simulation.course(Math.min(until, this.duration), step, options);
      // What is drawn is of one instant.
      this.packets = await simulation.queued(link);
      this.#add(seen);
      this.#finished(await simulation.rows("exchanges"));
      if (this.time < this.duration) return;
      this.saved = await simulation.scenario();
      this.summary = await simulation.finish();
      this.done = true;
    });
  }

  /** Runs on to just that instant. */
  async reach(time) {
    await this.#alone(async () => {
      this.time = await this.simulation.runUntil(time);
    });
  }

  /** Sets values, as pairs of a path and a value, at this instant. */
  async set(values) {
    await this.#alone(async () => {
      for (const [path, value] of values) await this.simulation.set(path, value);
    });
  }

  /** A copy with the same past, which goes its own way on an engine of its own. */
  async fork(name, engine) {
    const other = new Run(name, engine);
    for (const name of SHARED) other[name] = this[name];
    await this.#alone(async () => {
      other.side = await engine;
      other.simulation = await this.simulation.fork(other.side);
    });
    other.columns = structuredClone(this.columns);
    other.exchanges = structuredClone(this.exchanges);
    other.marks = [...this.marks];
    return other;
  }

  /** The scenario with all that was set. */
  scenario() {
    return this.done ? this.saved : this.simulation.scenario();
  }

  forget() {
    this.simulation?.forget().catch(() => {});
  }

  async #alone(work) {
    this.busy = true;
    try {
      await work();
    } finally {
      this.busy = false;
    }
  }

  #finished({ finished_s, response_time_s }) {
    for (let row = 0; row < finished_s.length; row++) {
      if (Number.isNaN(finished_s[row])) continue;
      this.exchanges.finished_s.push(finished_s[row]);
      this.exchanges.response_time_s.push(response_time_s[row]);
    }
  }

  #add({ cwnd_bytes, ...seen }) {
    const add = (to, values) => values.forEach((value) => to.push(value));
    for (const [name, values] of Object.entries(seen)) add((this.columns[name] ??= []), values);
    cwnd_bytes.forEach((values, flow) => add((this.columns.windows[flow] ??= []), values));
    this.time = seen.time_s.at(-1) ?? this.time;
    const sum = (values) => values.reduce((total, each) => total + each, 0);
    this.lost = sum(seen.dropped);
    this.marked = sum(seen.marked);
  }
}
