// Seconds of the event loop in WebAssembly: `node wasm.mjs FOLDER SCENARIO`, the least of three runs
// in one instance.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , folder, file] = process.argv;
const base = pathToFileURL(`${folder}/`);
const { Engine } = await import(new URL("engine.js", base));
const module = new WebAssembly.Module(readFileSync(new URL("sojourn.wasm", base)));
const engine = new Engine(module);
const toml = readFileSync(file, "utf8");

let least = Infinity;
for (let time = 0; time < 3; time++) {
  const simulation = engine.simulation(toml, { changeable: false });
  const begun = performance.now();
  simulation.runUntil(simulation.duration);
  least = Math.min(least, (performance.now() - begun) / 1000);
  simulation.finish();
  simulation.forget();
}
console.log(least);
