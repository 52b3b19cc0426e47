// The engines in WebAssembly, called directly: in a worker, or where waiting does no harm.
//
// Numbers are copied out of the module's memory once, as typed arrays; what is missing is NaN.

/** What is wrong with a scenario or a call, in words. */
export class SojournError extends Error {
  name = "SojournError";
}

/** The engine itself failed; its instance cannot be used any more. */
export class EngineFailure extends SojournError {
  name = "EngineFailure";
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const PAGE = 65536;

export class Engine {
  #module;
  #exports;
  #failed = "";

  /**
   * @param {WebAssembly.Module} module
   * @param {ArrayBuffer} memory of another engine, whose simulations are here then as well
   */
  constructor(module, memory = undefined) {
    this.#module = module;
    this.#exports = new WebAssembly.Instance(module, {}).exports;
    if (memory) this.#take(memory);
  }

  /** The simulation of an `image`, in an engine of its own. */
  resumed({ memory, number, about, time }) {
    return new Simulation(new Engine(this.#module, memory), number, about, time);
  }

  /** A copy of its memory, which is all of its state. */
  memory() {
    if (this.#failed) throw new EngineFailure(this.#failed);
    return enough(() => this.#exports.memory.buffer.slice(0));
  }

  /**
   * A simulation by the packet engine, at its start.
   *
   * @param {string} toml the scenario
   * @param {{changeable?: boolean}} options with `changeable: false` nothing can be set, and the
   *   simulation is as fast as a whole run
   */
  simulation(toml, { changeable = true } = {}) {
    const number = this.call("simulation_start", [Number(changeable)], toml);
    return new Simulation(this, number, JSON.parse(this.text()));
  }

  /** A whole run by the fluid engine: a simulation that is finished. */
  fluid(toml) {
    const number = this.call("simulation_run_fluid", [], toml);
    const simulation = new Simulation(this, number, JSON.parse(this.text()));
    simulation.finish();
    return simulation;
  }

  /**
   * The scenario with users instead of loads, TOML. It takes a few runs to count them, at loads of
   * half to more than all of the bottleneck's rate.
   */
  calibrated(toml) {
    this.call("scenario_calibrated", [], toml);
    return this.text();
  }

  /** The scenario with other values, TOML: `{"bottleneck.qdisc.qref": 40}`; null takes one away. */
  changed(toml, values) {
    this.call("scenario_with", [], JSON.stringify([toml, values]));
    return this.text();
  }

  /** What a scenario says, with every field, defaults included. */
  fields(toml) {
    this.call("scenario_fields", [], toml);
    return JSON.parse(this.text());
  }

  /** A loop about its operating point. */
  linearise(description) {
    this.call("theory_linearise", [], JSON.stringify(description));
    return JSON.parse(this.text());
  }

  /**
   * The loop of a scenario's long flows over its bottleneck, in the complex plane: `stable`,
   * `words`, margins, `point`, and the curve as `omega`, `real`, `imaginary`.
   */
  nyquist(toml) {
    this.call("theory_nyquist", [], toml);
    const curve = byName(["omega", "real", "imaginary"], this.numbers());
    return { ...JSON.parse(this.text()), ...curve };
  }

  /**
   * Phase margins of many loops.
   *
   * @param {object} description what they share
   * @param {Record<string, ArrayLike<number>>} columns values for each loop, by parameter
   * @returns {Record<string, Float64Array>}
   */
  margins(description, columns) {
    const names = Object.keys(columns);
    const values = names.flatMap((name) => Array.from(columns[name]));
    this.call("theory_margins", [], JSON.stringify({ description, columns: names }), values);
    const found = this.numbers();
    let at = 0;
    return Object.fromEntries(
      JSON.parse(this.text()).map(([name, size]) => [name, found.slice(at, (at += size))]),
    );
  }

  /** Calls a function of the module after writing what it takes beside numbers. */
  call(name, numbers = [], text = undefined, values = undefined) {
    if (this.#failed) throw new EngineFailure(this.#failed);
    const exports = this.#exports;
    try {
      if (text !== undefined) {
        const bytes = encoder.encode(text);
        const at = exports.text_in(bytes.length);
        new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
      }
      if (values !== undefined) {
        const at = exports.numbers_in(values.length);
        new Float64Array(exports.memory.buffer, at, values.length).set(values);
      }
      const answer = exports[name](...numbers);
      if (answer >= 0) return answer;
    } catch (error) {
      this.#failed = this.#panic(error);
      throw new EngineFailure(this.#failed);
    }
    throw new SojournError(this.text());
  }

  /** The text of the last answer. */
  text() {
    const { memory, text_out, text_out_bytes } = this.#exports;
    return decoder.decode(new Uint8Array(memory.buffer, text_out(), text_out_bytes()));
  }

  /** The numbers of the last answer: a copy, as the module's memory moves when it grows. */
  numbers() {
    const { memory, numbers_out, numbers_out_count } = this.#exports;
    return new Float64Array(memory.buffer, numbers_out(), numbers_out_count()).slice();
  }

  #take(memory) {
    const own = this.#exports.memory;
    const missing = memory.byteLength - own.buffer.byteLength;
    enough(() => own.grow(Math.max(missing / PAGE, 0)));
    new Uint8Array(own.buffer).set(new Uint8Array(memory));
  }

  forget(number) {
    if (!this.#failed) this.#exports.simulation_forget(number);
  }

  #panic(error) {
    const { memory, panic_text, panic_text_bytes } = this.#exports;
    const bytes = new Uint8Array(memory.buffer, panic_text(), panic_text_bytes());
    if (bytes.length > 0) return `internal error, please report it: ${decoder.decode(bytes)}`;
    // Where memory runs out there is none left to say so.
    return `the engine stopped, out of memory or of stack (${error.message})`;
  }
}

/** What `allocate` gives; in words if there is no memory for it. */
function enough(allocate) {
  try {
    return allocate();
  } catch (error) {
    throw new SojournError(`there is no memory for a copy of the simulation (${error.message})`);
  }
}

/** What a course tells of a link, beside the time. */
export const COURSE = [
  "rate_bps",
  "queue_s",
  "queue_packets",
  "probability",
  "throughput_bps",
  "dropped",
  "marked",
];

class Simulation {
  #engine;
  #number;
  #about;

  constructor(engine, number, about, time = undefined) {
    this.#engine = engine;
    this.#number = number;
    this.#about = about;
    /** The end of the scenario, s. */
    this.duration = about.duration_s;
    /** Names that rows and observations tell of, and the columns of tables. */
    this.names = about.names;
    this.tables = about.tables;
    /** Once it is finished. */
    this.summary = undefined;
    this.time = time;
  }

  /** Where it runs. */
  get engine() {
    return this.#engine;
  }

  /** Runs on up to an instant, s; gives the instant reached. */
  runUntil(time) {
    this.#engine.call("simulation_run_until", [this.#number, time]);
    this.time = this.#engine.numbers()[0];
    return this.time;
  }

  /**
   * Links and groups now, and what has passed since the last look. Flows are columns:
   * `groups[0].flows.cwnd_bytes[3]`.
   */
  observe() {
    this.#engine.call("simulation_observe", [this.#number]);
    return observation(this.#about.observation, this.#engine.numbers());
  }

  /**
   * Runs on to the last multiple of `step` that is not after an instant, or to the end, and looks at
   * each: the course of a link as columns, and `cwnd_bytes` of the first `flows` long flows.
   */
  course(until, step, { link = "bottleneck", flows = 4 } = {}) {
    const place = this.names.link.indexOf(link);
    if (place < 0) {
      throw new SojournError(`${link}: no such link; one of ${this.names.link.join(", ")}`);
    }
    const columns = Object.fromEntries(COURSE.map((name) => [name, []]));
    const cwnd_bytes = [];
    const time_s = [];
    const look = (time) => {
      this.runUntil(time);
      const seen = this.observe();
      time_s.push(seen.time_s);
      for (const name of COURSE) columns[name].push(seen.links[place][name]);
      const windows = seen.groups.flatMap((group) => Array.from(group.flows.cwnd_bytes ?? []));
      windows.slice(0, flows).forEach((value, flow) => (cwnd_bytes[flow] ??= []).push(value));
    };
    const start = this.time ?? 0;
    // A look right after another would tell of a packet or none.
    for (let k = Math.floor(start / step + 0.5) + 1; k * step <= until; k++) look(k * step);
    if (until >= this.duration && (this.time ?? 0) < this.duration) look(this.duration);
    return { time_s, ...columns, cwnd_bytes };
  }

  /**
   * The packets in the queue of a link, from the head on, at most so many, as columns: `group` and
   * `flow` by number, `bytes`, `marked` (1 with a mark).
   *
   * @returns {Record<string, Float64Array>}
   */
  queued(link = "bottleneck", most = 200) {
    this.#engine.call("simulation_queued", [this.#number, most], link);
    return byPlace(this.#about.observation.queued_columns, this.#engine.numbers());
  }

  /** Sets a value of the scenario from now on, such as `"bottleneck.qdisc.qref", 40`. */
  set(path, value) {
    this.#engine.call("simulation_set", [this.#number], JSON.stringify([path, value]));
  }

  /** A copy that goes its own way, in an engine of its own. */
  fork() {
    return this.#engine.resumed(this.image());
  }

  /** What a copy is made of, in another worker: see `Engine.resumed`. */
  image() {
    if (this.summary) throw new SojournError("the simulation is finished");
    const memory = this.#engine.memory();
    return { memory, number: this.#number, about: this.#about, time: this.time };
  }

  /** The scenario with all that was set, TOML. */
  scenario() {
    this.#engine.call("simulation_scenario", [this.#number]);
    return this.#engine.text();
  }

  /**
   * The rows of a table since the last time, as columns. Links, groups, flows and outcomes are
   * places in `names`.
   *
   * @returns {Record<string, Float64Array>}
   */
  rows(table) {
    this.#engine.call("simulation_rows", [this.#number], table);
    return byName(this.#about.tables[table], this.#engine.numbers());
  }

  /** Ends the simulation where it is; gives the summary. Its tables can still be read. */
  finish() {
    this.#engine.call("simulation_finish", [this.#number]);
    this.summary = JSON.parse(this.#engine.text());
    return this.summary;
  }

  /** Gives its memory back. */
  forget() {
    this.#engine.forget(this.#number);
  }
}

/** Columns of equal length that follow one another. */
function byName(names, values) {
  const size = values.length / names.length;
  return Object.fromEntries(
    names.map((name, at) => [name, values.slice(at * size, (at + 1) * size)]),
  );
}

/** Rows that follow one another, as columns. */
function byPlace(names, values) {
  const size = values.length / names.length;
  const column = (c) => Float64Array.from({ length: size }, (_, i) => values[i * names.length + c]);
  return Object.fromEntries(names.map((name, c) => [name, column(c)]));
}

function observation(about, values) {
  let at = 0;
  const take = (columns) => Object.fromEntries(columns.map((name) => [name, values[at++]]));
  const time_s = values[at++];
  const links = about.links.map((name) => ({ name, ...take(about.link_columns) }));
  const groups = about.groups.map((name) => {
    const group = { name, ...take(about.group_columns) };
    const [count, width] = [values[at++], about.flow_columns.length];
    const start = at;
    at += count * width;
    group.flows = byPlace(about.flow_columns, values.subarray(start, at));
    return group;
  });
  return { time_s, links, groups };
}
