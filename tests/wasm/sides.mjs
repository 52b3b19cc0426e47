// Two sides next to each other, and one that is ended in the middle of a run.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , folder, file] = process.argv;
const base = pathToFileURL(`${folder}/`);
const { EngineFailure, Side, SojournError, load } = await import(new URL("side.js", base));
const { Engine } = await import(new URL("engine.js", base));
const toml = readFileSync(file, "utf8");
const module = await load();

// Both give what one gives alone, whatever happens in between.
const [a, b] = await Promise.all([Side.open(module), Side.open(module)]);
const seen = [];
const [one, two] = await Promise.all([
  a.run(toml, { progress: (time) => seen.push(time), steps: 4 }),
  b.run(toml),
]);
assert.deepEqual(seen, [1, 2, 3, 4]);
// How many events there are depends on pauses, nothing else does.
assert.deepEqual({ ...one.summary, events: 0 }, { ...two.summary, events: 0 });
assert.ok((await one.rows("queues")).packets.length > 100);

// Steps, changes and copies by messages.
const simulation = await a.simulation(toml);
assert.equal(await simulation.runUntil(2), 2);
await simulation.set("bottleneck.rate", "5mbit");
const [copy, other] = [await simulation.fork(), await simulation.fork(b)];
await other.set("bottleneck.rate", "3mbit");
await Promise.all([simulation, copy, other].map((each) => each.runUntil(4)));
assert.ok((await copy.observe()).links[0].rate_bps === 5e6);
assert.ok((await other.observe()).links[0].rate_bps === 3e6);
assert.match(await simulation.scenario(), /5mbit/);
assert.match(await other.scenario(), /3mbit/);
// A copy is there when what it was made from is not.
await simulation.forget();
assert.deepEqual((await copy.finish()).links, (await expected(5)).links);
assert.deepEqual((await other.finish()).links, (await expected(5, 3)).links);
const second = await a.simulation(toml);
await second.finish();
await assert.rejects(second.observe(), /the simulation is finished/);
await assert.rejects(second.fork(), /the simulation is finished/);
await assert.rejects(a.run("duration = 3"), SojournError);

// The same without copies.
async function expected(...rates) {
  const alone = await a.simulation(toml);
  await alone.runUntil(2);
  for (const rate of rates) await alone.set("bottleneck.rate", `${rate}mbit`);
  await alone.runUntil(4);
  return alone.finish();
}

// A year of simulated time would take hours: the call is refused when its side is closed, and the
// other goes on.
const long = toml.replace(/duration = "\d+s"/, 'duration = "8000h"').replace("queues = true", "");
const endless = await b.simulation(long);
const never = assert.rejects(endless.runUntil(8000 * 3600), /the side is closed/);
b.close();
await never;
await assert.rejects(endless.observe(), /the side is closed/);
assert.equal((await a.run(toml)).summary.simulated_s, 4);
a.close();

// An engine that has failed gives no copies, and its side says that it is of no use any more.
const engine = new Engine(module);
const failing = engine.simulation(toml);
assert.throws(() => engine.call("nothing"), EngineFailure);
assert.throws(() => failing.fork(), EngineFailure);
const section = (number, ...bytes) => [number, bytes.length, ...bytes];
const exported = (name, ...what) => [name.length, ...Buffer.from(name), ...what];
const trap = new Uint8Array([
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, 2, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 0, 1, 0x7f),
  ...section(3, 2, 0, 1),
  ...section(5, 1, 0, 1),
  ...section(
    7,
    4,
    ...exported("memory", 2, 0),
    ...exported("text_in", 0, 0),
    ...exported("panic_text", 0, 1),
    ...exported("panic_text_bytes", 0, 1),
  ),
  ...section(10, 2, 3, 0, 0, 0x0b, 4, 0, 0x41, 0, 0x0b),
]);
const c = await Side.open(await WebAssembly.compile(trap));
assert.equal(c.broken, false);
await assert.rejects(c.fields(toml), EngineFailure);
assert.equal(c.broken, true);
c.close();
console.log("done");
