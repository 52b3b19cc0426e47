// An engine in a worker of its own, behind promises: sides run next to each other, and what a side
// does ends at once with `close`.

import { EngineFailure, SojournError } from "./engine.js";

export { EngineFailure, SojournError };

const WORKER = new URL("./worker.js", import.meta.url);

/**
 * The module of the engines, compiled once for all sides.
 *
 * @param {string | URL} address of `sojourn.wasm`; by default beside this file
 * @returns {Promise<WebAssembly.Module>}
 */
export async function load(address = new URL("./sojourn.wasm", import.meta.url)) {
  if (new URL(address, import.meta.url).protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    return WebAssembly.compile(await readFile(address));
  }
  const answer = await fetch(address);
  if (!answer.ok) throw new SojournError(`${address}: ${answer.status} ${answer.statusText}`);
  // Compiled while it arrives, if the server says what it is.
  return answer.headers.get("content-type") === "application/wasm"
    ? WebAssembly.compileStreaming(answer)
    : WebAssembly.compile(await answer.arrayBuffer());
}

export class Side {
  #worker;
  #waiting = new Map();
  #last = 0;
  #closed = "";
  #failed = false;

  /** A side whose worker is ready. */
  static async open(module) {
    const side = new Side();
    await side.#start();
    await side.call("open", module);
    return side;
  }

  /** Whether it answers no more: it was closed, or its engine failed. */
  get broken() {
    return this.#failed || this.#closed !== "";
  }

  /** See `Engine.simulation`; the methods of what comes back return promises. */
  async simulation(toml, options = {}) {
    return new Simulation(this, await this.call("simulation", toml, options));
  }

  async fluid(toml) {
    return new Simulation(this, await this.call("fluid", toml));
  }

  changed(toml, values) {
    return this.call("changed", toml, values);
  }

  fields(toml) {
    return this.call("fields", toml);
  }

  calibrated(toml) {
    return this.call("calibrated", toml);
  }

  linearise(description) {
    return this.call("linearise", description);
  }

  nyquist(toml) {
    return this.call("nyquist", toml);
  }

  margins(description, columns) {
    return this.call("margins", description, columns);
  }

  /**
   * A whole run by the packet engine; the simulation at its end, with its summary.
   *
   * @param {string} toml
   * @param {{progress?: (time: number, duration: number) => void, steps?: number}} options
   *   `progress` is called after each of so many equal steps
   */
  async run(toml, { progress = undefined, steps = 100 } = {}) {
    const simulation = await this.simulation(toml, { changeable: false });
    const { duration } = simulation;
    for (let step = 1; progress && step < steps; step++) {
      progress(await simulation.runUntil((duration * step) / steps), duration);
    }
    await simulation.runUntil(duration);
    progress?.(duration, duration);
    await simulation.finish();
    return simulation;
  }

  /** Ends the worker at once, with whatever it is doing; calls that wait are refused. */
  close(why = "the side is closed") {
    this.#closed = why;
    this.#worker?.terminate();
    for (const { reject } of this.#waiting.values()) reject(new SojournError(why));
    this.#waiting.clear();
  }

  /** Calls the worker. */
  call(name, ...rest) {
    return this.#post(name, rest);
  }

  /** A simulation of another side, from its image, which is handed over. */
  async resume(image) {
    return new Simulation(this, await this.#post("resume", [image], [image.memory]));
  }

  #post(name, rest, handed = []) {
    if (this.#closed) return Promise.reject(new SojournError(this.#closed));
    return new Promise((resolve, reject) => {
      const number = ++this.#last;
      this.#waiting.set(number, { resolve, reject });
      this.#worker.postMessage({ number, name, rest }, handed);
    });
  }

  async #start() {
    const failed = (event) => this.close(`the worker failed: ${event.message}`);
    if (globalThis.Worker) {
      // A page in a file of its own has the worker in it; there, browsers take no modules.
      const type = WORKER.protocol === "blob:" ? "classic" : "module";
      this.#worker = new Worker(WORKER, { type });
      this.#worker.onmessage = (event) => this.#receive(event.data);
      this.#worker.onerror = failed;
    } else {
      const { Worker } = await import("node:worker_threads");
      this.#worker = new Worker(WORKER);
      this.#worker.on("message", (answer) => this.#receive(answer));
      this.#worker.on("error", failed);
    }
  }

  #receive({ number, answer, kind, error }) {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (error === undefined) return waiting?.resolve(answer);
    this.#failed ||= kind === "EngineFailure";
    waiting?.reject(new (kind === "EngineFailure" ? EngineFailure : SojournError)(error));
  }
}

class Simulation {
  #side;
  #id;

  constructor(side, { id, ...about }) {
    this.#side = side;
    this.#id = id;
    /** `duration`, `names`, `tables`, and `summary` once it is finished. */
    Object.assign(this, about);
  }

  runUntil(time) {
    return this.#side.call("runUntil", this.#id, time);
  }

  course(until, step, options) {
    return this.#side.call("course", this.#id, until, step, options);
  }

  observe() {
    return this.#side.call("observe", this.#id);
  }

  queued(link, most) {
    return this.#side.call("queued", this.#id, link, most);
  }

  set(path, value) {
    return this.#side.call("set", this.#id, path, value);
  }

  /** A copy that goes its own way: on this side, or on another, where it runs beside this one. */
  async fork(side = this.#side) {
    return side.resume(await this.#side.call("image", this.#id));
  }

  scenario() {
    return this.#side.call("scenario", this.#id);
  }

  rows(table) {
    return this.#side.call("rows", this.#id, table);
  }

  async finish() {
    this.summary = await this.#side.call("finish", this.#id);
    return this.summary;
  }

  forget() {
    return this.#side.call("forget", this.#id);
  }
}
