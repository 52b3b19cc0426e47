// The far end of a `Side`: an engine in a worker of its own, in a browser or in Node.

import { Engine } from "./engine.js";

const browser = "WorkerGlobalScope" in globalThis;
const port = browser ? globalThis : (await import("node:worker_threads")).parentPort;

let engine;
const simulations = new Map();
let last = 0;

/** A simulation, as the other end knows it. */
function known(simulation) {
  simulations.set(++last, simulation);
  const { duration, names, tables, summary } = simulation;
  return { id: last, duration, names, tables, summary };
}

const calls = {
  open: (module) => {
    engine = new Engine(module);
  },
  simulation: (toml, options) => known(engine.simulation(toml, options)),
  fluid: (toml) => known(engine.fluid(toml)),
  changed: (toml, values) => engine.changed(toml, values),
  fields: (toml) => engine.fields(toml),
  calibrated: (toml) => engine.calibrated(toml),
  linearise: (description) => engine.linearise(description),
  nyquist: (toml) => engine.nyquist(toml),
  margins: (description, columns) => engine.margins(description, columns),
  resume: (image) => known(engine.resumed(image)),
  forget: (id) => {
    simulations.get(id)?.forget();
    simulations.delete(id);
  },
};
for (const name of [
  "runUntil",
  "course",
  "observe",
  "queued",
  "set",
  "scenario",
  "rows",
  "image",
  "finish",
]) {
  calls[name] = (id, ...rest) => simulations.get(id)[name](...rest);
}

/** The buffers in an answer: they are handed over, not copied. */
function buffers(answer) {
  if (answer instanceof ArrayBuffer) return [answer];
  if (ArrayBuffer.isView(answer)) return [answer.buffer];
  if (answer === null || typeof answer !== "object") return [];
  return Object.values(answer).flatMap(buffers);
}

function receive({ number, name, rest }) {
  try {
    const answer = calls[name](...rest);
    port.postMessage({ number, answer }, buffers(answer));
  } catch (error) {
    port.postMessage({ number, kind: error.name, error: error.message });
  }
}

if (browser) port.onmessage = (event) => receive(event.data);
else port.on("message", receive);
