// Does what standard input asks, a JSON array of jobs, with the engines in the folder that is named;
// answers with an array. Numbers that are missing are null, and a summary is the engine's own text.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/`);
const { Engine } = await import(new URL("engine.js", folder));
const module = new WebAssembly.Module(readFileSync(new URL("sojourn.wasm", folder)));

function simulate(engine, { toml, fluid, changeable, actions = [], tables = [] }) {
  let simulation = fluid ? engine.fluid(toml) : engine.simulation(toml, { changeable });
  const answers = actions.map(([name, ...rest]) => {
    const answer = simulation[name](...rest);
    if (name !== "fork") return answer;
    simulation.forget();
    simulation = answer;
    return null;
  });
  simulation.finish();
  const summary = simulation.engine.text();
  const rows = Object.fromEntries(tables.map((table) => [table, simulation.rows(table)]));
  const { names } = simulation;
  simulation.forget();
  return { answers, summary, rows, names };
}

function answer(engine, job) {
  try {
    if (job.linearise) return engine.linearise(job.linearise);
    if (job.calibrated) return engine.calibrated(job.calibrated);
    if (job.nyquist) return engine.nyquist(job.nyquist);
    if (job.margins) return engine.margins(...job.margins);
    return simulate(engine, job);
  } catch (error) {
    return { error: error.message, kind: error.name };
  }
}

const plain = (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
// One after another in the same instance: what one leaves must not show in the next.
let engine = new Engine(module);
const answers = JSON.parse(readFileSync(0, "utf8")).map((job) => {
  const found = answer(engine, job);
  if (found.kind === "EngineFailure") engine = new Engine(module);
  return found;
});
process.stdout.write(JSON.stringify(answers, plain));
