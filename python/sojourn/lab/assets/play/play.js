// The laboratory: two simulations run in this page, and a slider that is moved acts at once.

import { Side } from "./side.js";
import { Controls, QDISC } from "./controls.js";
import { queue } from "./queue.js";
import { strip } from "./strip.js";
import { shown } from "./values.js";

const $ = (id) => document.getElementById(id);
const { experiments, disciplines, tour, first } = JSON.parse($("lab").textContent);
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 100, 1000];
const SIDES = ["A", "B"];
const FLOWS = 4;
const dark = matchMedia("(prefers-color-scheme: dark)");

const PICTURES = [
  {
    name: "delay",
    title: "Queueing delay, ms",
    wide: true,
    of: "queue_s",
    scale: 1e3,
    least: 1,
    look: "How long a packet waits. Its lowest points tell a good queue from one that stands.",
  },
  {
    name: "packets",
    title: "Queue, packets",
    of: "queue_packets",
    scale: 1,
    least: 2,
    look: "The same queue, counted: at another rate the same packets are another delay.",
  },
  {
    name: "throughput",
    title: "Throughput, Mb/s",
    of: "throughput_bps",
    scale: 1e-6,
    least: 0.1,
    look: "A dip to below the link's rate is time in which nothing was there to send.",
  },
  {
    name: "probability",
    title: "Probability of a drop or mark, %",
    of: "probability",
    scale: 100,
    least: 0.05,
    look: "What the controller says. Drop-tail and CoDel have none.",
  },
  {
    name: "windows",
    title: `Windows of ${FLOWS} flows, kB`,
    of: "windows",
    scale: 1e-3,
    least: 10,
    look: "Saw teeth: a window falls after a signal and grows until the next.",
  },
];

let experiment = experiments[0];
let speed = 1;
let playing = false;
let target = 0;
let generation = 0;
let last = performance.now();
const engines = {};
const sides = Object.fromEntries(SIDES.map((name) => [name, { name, columns: {}, marks: [] }]));
const views = {};

// -- what is on the table

const changes = () => Object.fromEntries(SIDES.map((name) => [name, sides[name].changes]));

function remember() {
  const state = { e: experiment.name, s: speed, ...changes() };
  if (experiment.name === "") state.t = experiment.toml;
  if ($("tour").value !== "") state.tour = Number($("tour").value) + 1;
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const text = btoa(String.fromCharCode(...bytes));
  history.replaceState(null, "", `#${text.replaceAll("+", "-").replaceAll("/", "_")}`);
}

function recalled() {
  const hash = location.hash.slice(1);
  const step = /^tour=(\d+)$/.exec(hash);
  if (step) return { tour: Number(step[1]) };
  if (!hash) return undefined;
  try {
    const text = atob(hash.replaceAll("-", "+").replaceAll("_", "/"));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  } catch {
    complain("The address does not hold a setting; this is the first experiment.");
    return undefined;
  }
}

function complain(text) {
  $("error").textContent = text;
  $("error").hidden = !text;
}

function own(toml, title = "Your scenario") {
  const about = "A scenario of your own on both sides: change one of them.";
  return { name: "", title, about, toml, sides: { A: {}, B: {} } };
}

// -- time

/** Both sides at time 0 with what is set. */
async function restart() {
  const mine = ++generation;
  target = 0;
  $("summary").replaceChildren();
  complain("");
  try {
    await Promise.all(SIDES.map((name) => start(sides[name])));
  } catch (error) {
    if (mine === generation) complain(error.message);
  }
}

async function start(side) {
  const engine = engines[side.name];
  const earlier = side.simulation;
  side.simulation = undefined;
  // What the last setting still does is not waited for.
  if (side.busy) {
    engine.close();
    engines[side.name] = await Side.open(compiled);
  }
  Object.assign(side, { busy: true, done: false, summary: undefined, time: 0, marks: [] });
  Object.assign(side, { packets: undefined, lost: 0, marked: 0, engine: engines[side.name] });
  side.columns = { time_s: [], windows: [] };
  try {
    side.toml = await setting(side);
    if (/^\s*load\s*=/m.test(side.toml)) {
      $("status").textContent = "Counting the users that make this load…";
      side.toml = await side.engine.calibrated(side.toml);
      $("status").textContent = "";
    }
    side.simulation = await side.engine.simulation(side.toml);
    earlier?.forget().catch(() => {});
    side.duration = side.simulation.duration;
  } finally {
    side.busy = false;
  }
  titles();
}

/** The scenario of a side with what is set, if there is nothing wrong with it. */
async function setting(side) {
  const toml = await side.engine.changed(experiment.toml, experiment.sides[side.name]);
  return side.engine.changed(toml, side.changes);
}

const span = () => Math.min(120, Math.max(2, 10 * speed));
const whole = () => $("whatif").checked;
const duration = () => Math.max(...SIDES.map((name) => sides[name].duration ?? 0));

async function advance(side, until) {
  const mine = generation;
  side.busy = true;
  const { simulation } = side;
  const step = whole() ? side.duration / 1500 : Math.max(1e-4, span() / 600);
  try {
    const seen = await simulation.course(Math.min(until, side.duration), step, { flows: FLOWS });
    if (mine !== generation || simulation !== side.simulation) return;
    const { cwnd_bytes, ...columns } = seen;
    for (const [name, values] of Object.entries(columns))
      (side.columns[name] ??= []).push(...values);
    cwnd_bytes.forEach((values, flow) => (side.columns.windows[flow] ??= []).push(...values));
    side.time = seen.time_s.at(-1) ?? side.time;
    side.lost = seen.dropped.reduce((sum, each) => sum + each, 0);
    side.marked = seen.marked.reduce((sum, each) => sum + each, 0);
    if (!whole()) side.packets = await simulation.queued();
    if (side.time >= side.duration) {
      side.saved = await simulation.scenario();
      side.summary = await simulation.finish();
      side.done = true;
      if (SIDES.every((name) => sides[name].done)) finished();
    }
  } catch (error) {
    if (mine === generation) {
      complain(error.message);
      pause();
    }
  } finally {
    if (simulation === side.simulation) side.busy = false;
  }
}

function frame(now) {
  const passed = Math.min(0.1, (now - last) / 1000);
  last = now;
  const running = SIDES.map((name) => sides[name]).filter((side) => side.simulation && !side.done);
  if (playing && running.length > 0) {
    const behind = Math.min(...running.map((side) => side.time));
    target = whole()
      ? behind + duration() / 40
      : Math.min(target + passed * speed, behind + speed / 4);
    for (const side of running) if (!side.busy && side.time < target) advance(side, target);
  }
  draw();
  requestAnimationFrame(frame);
}

function play() {
  if (SIDES.every((name) => sides[name].done)) restart();
  playing = true;
  $("play").textContent = "Pause";
}

function pause() {
  playing = false;
  target = Math.max(0, ...SIDES.map((name) => sides[name].time ?? 0));
  $("play").textContent = "Play";
}

function finished() {
  pause();
  table();
}

// -- what is moved

async function changed(where, values) {
  const names = where === "common" ? SIDES : [where];
  const before = changes();
  for (const name of names) {
    const kept = Object.entries(sides[name].changes);
    // Another discipline has other parameters.
    const still = QDISC in values ? kept.filter(([path]) => !path.startsWith(QDISC)) : kept;
    sides[name].changes = { ...Object.fromEntries(still), ...values };
  }
  complain("");
  try {
    for (const name of names) await setting(sides[name]);
  } catch (error) {
    for (const name of names) sides[name].changes = before[name];
    return complain(error.message);
  }
  remember();
  if (whole()) {
    await restart();
    play();
    return;
  }
  for (const name of names) {
    const side = sides[name];
    try {
      if (side.done || side.time === 0) throw new Error("from the start");
      for (const [path, value] of now(values)) await side.simulation.set(path, value);
      side.marks.push({ time: side.time, colour: colour(`--${name.toLowerCase()}`) });
      $("status").textContent =
        `${name}: changed at ${shown(side.time)} s, in the middle of the run.`;
    } catch (error) {
      if (side.time > 0) $("status").textContent = `Both sides start again: ${error.message}`;
      await restart();
      return;
    }
  }
}

/** A discipline's parameters one by one, as a simulation takes them. */
function now(values) {
  return Object.entries(values).flatMap(([path, value]) => {
    if (value === null || typeof value !== "object") return [[path, value]];
    const fields = Object.entries(value).filter(([field]) => field !== "kind");
    return fields.map(([field, each]) => [`${path}.${field}`, each]);
  });
}

/** Until both sides wait for what comes. */
async function still() {
  while (SIDES.some((name) => sides[name].busy)) await new Promise((go) => setTimeout(go, 5));
}

async function once() {
  pause();
  await still();
  for (const side of Object.values(sides)) {
    if (side.simulation && !side.done) advance(side, side.time + span() / 200);
  }
}

async function fork() {
  pause();
  const [a, b] = SIDES.map((name) => sides[name]);
  if (!a.simulation || a.done) return complain("There is nothing to fork: A is at its end.");
  await still();
  if (a.done) return complain("There is nothing to fork: A is at its end.");
  b.simulation = await a.simulation.fork();
  Object.assign(b, {
    engine: a.engine,
    toml: a.toml,
    time: a.time,
    duration: a.duration,
    done: false,
  });
  Object.assign(b, { busy: false, packets: a.packets, changes: { ...a.changes } });
  b.columns = structuredClone(a.columns);
  b.marks = [...a.marks, { time: a.time, colour: colour("--quiet") }];
  const { sides: set, controls } = experiment;
  experiment = { ...experiment, sides: { A: set.A, B: set.A } };
  if (controls) experiment.controls = { ...controls, B: controls.A };
  furnish();
  titles();
  $("status").textContent = `Two futures of A from ${shown(a.time)} s on: change B, then play.`;
}

// -- pictures

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function pictures() {
  const made = [];
  const add = (name, title, look, classes, canvas = "") => {
    const figure = document.createElement("figure");
    figure.className = classes;
    const caption = document.createElement("figcaption");
    const heading = document.createElement("b");
    heading.innerHTML = title;
    const words = document.createElement("span");
    words.textContent = ` ${look}`;
    caption.append(heading, words);
    const view = document.createElement("canvas");
    Object.assign(view, { className: canvas });
    view.setAttribute("role", "img");
    view.setAttribute("aria-label", `${heading.textContent}. ${look}`);
    figure.append(caption, view);
    views[name] = view;
    made.push(figure);
  };
  const [delay, ...others] = PICTURES;
  add(delay.name, delay.title, delay.look, "wide first");
  for (const name of SIDES) {
    const title = `<span class="side-${name.toLowerCase()}">${name}</span>: the packets that wait`;
    add(
      `queue-${name}`,
      title,
      "The next to leave is at the right; a colour for each flow.",
      "",
      "packets",
    );
  }
  for (const each of others) add(each.name, each.title, each.look, "");
  $("watch").replaceChildren(...made);
}

function draw() {
  const style = getComputedStyle(document.documentElement);
  const ink = Object.fromEntries(
    ["text", "quiet", "grid", "a", "b"].map((name) => [
      name,
      style.getPropertyValue(`--${name}`).trim(),
    ]),
  );
  const time = Math.max(0, ...SIDES.map((name) => sides[name].time ?? 0));
  const width = whole() ? duration() || 1 : span();
  const to = Math.max(time, width);
  const marks = SIDES.flatMap((name) => sides[name].marks);
  for (const { name, of, scale, least } of PICTURES) {
    const lines = [];
    for (const side of Object.values(sides)) {
      const all = of === "windows" ? (side.columns.windows ?? []) : [side.columns[of] ?? []];
      for (const values of all) {
        const line = {
          times: side.columns.time_s ?? [],
          values,
          colour: ink[side.name.toLowerCase()],
        };
        lines.push(of === "windows" ? { ...line, width: 1.2, alpha: 0.75 } : line);
      }
    }
    strip(views[name], { from: to - width, to, lines, marks, least, scale, ink });
  }
  for (const side of Object.values(sides)) {
    const { packets, lost, marked } = side;
    const count = side.columns.queue_packets?.at(-1) ?? 0;
    queue(views[`queue-${side.name}`], { packets, count, lost, marked, ink });
  }
  $("clock").textContent = `${shown(time)} of ${shown(duration())} s`;
}

function titles() {
  for (const name of SIDES) {
    const kind = sides[name].controls?.kind;
    $(`side-${name}`).querySelector("legend span").textContent = kind ?? "";
  }
}

// -- at the end

const MEASURES = [
  ["Mean queueing delay", "ms", (link) => 1e3 * link.sojourn_s?.mean],
  ["99th percentile of delay", "ms", (link) => 1e3 * link.sojourn_s?.p99],
  ["Throughput", "Mb/s", (link) => 1e-6 * link.throughput_bps],
  ["Utilisation", "%", (link) => 100 * link.utilisation],
  ["Loss", "%", (link) => 100 * link.loss],
  ["Marked", "%", (link) => 100 * link.marked],
  ["Mean queue", "packets", (link) => link.queue_packets?.mean],
];

function table() {
  const element = document.createElement("table");
  const add = (parent, name, text, more = {}) => {
    const made = Object.assign(document.createElement(name), { textContent: text, ...more });
    parent.append(made);
    return made;
  };
  add(element, "caption", "The whole run, after its warm-up");
  const head = element.createTHead().insertRow();
  add(head, "th", "");
  for (const name of SIDES)
    add(head, "th", name, { scope: "col", className: `side-${name.toLowerCase()}` });
  const body = element.createTBody();
  const line = (words, unit, values) => {
    const row = body.insertRow();
    add(row, "th", `${words}, ${unit}`, { scope: "row" });
    for (const value of values) add(row, "td", shown(value));
  };
  const all = SIDES.map((name) => sides[name].summary);
  const links = all.map((each) => each.links[0]);
  for (const [words, unit, of] of MEASURES) {
    const values = links.map(of);
    if (values.some(Number.isFinite)) line(words, unit, values);
  }
  for (const [place, group] of all[0].groups.entries()) {
    const pair = all.map((each) => each.groups[place]);
    const times = pair.map((each) => 1e3 * each?.response_time_s?.p50);
    if (times.some((each) => each > 0)) line(`${group.name}: median response time`, "ms", times);
    const goodputs = pair.map((each) => 1e-6 * each?.goodput_bps);
    if (!times.some((each) => each > 0) && goodputs.some(Number.isFinite)) {
      line(`${group.name}: goodput`, "Mb/s", goodputs);
    }
  }
  $("summary").replaceChildren(element);
}

// -- files

function save(name, blob) {
  const link = Object.assign(document.createElement("a"), {
    download: name,
    href: URL.createObjectURL(blob),
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function toml(name) {
  const { done, saved, simulation } = sides[name];
  const text = done ? saved : await simulation.scenario();
  save(`${experiment.name || "scenario"}-${name}.toml`, new Blob([text], { type: "text/plain" }));
}

function csv() {
  const names = [
    "time_s",
    "rate_bps",
    "queue_s",
    "queue_packets",
    "probability",
    "throughput_bps",
    "dropped",
    "marked",
  ];
  const lines = [["side", ...names].join(",")];
  for (const { name, columns } of Object.values(sides)) {
    columns.time_s.forEach((_, row) =>
      lines.push([name, ...names.map((each) => columns[each][row])].join(",")),
    );
  }
  save("course.csv", new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
}

function png() {
  const all = Object.values(views);
  const width = Math.max(...all.map((each) => each.width));
  const sheet = Object.assign(document.createElement("canvas"), {
    width,
    height: all.reduce((sum, each) => sum + each.height + 40, 0),
  });
  const context = sheet.getContext("2d");
  context.fillStyle = colour("--paper");
  context.fillRect(0, 0, sheet.width, sheet.height);
  context.fillStyle = colour("--text");
  context.font = `${14 * (devicePixelRatio || 1)}px Helvetica, Arial, sans-serif`;
  let at = 0;
  for (const each of all) {
    context.fillText(each.getAttribute("aria-label").split(". ")[0], 8, at + 28);
    context.drawImage(each, 0, at + 38);
    at += each.height + 40;
  }
  sheet.toBlob((blob) => save(`${experiment.name || "scenario"}.png`, blob));
}

async function read(file) {
  if (file.size > 256_000) return complain(`${file.name}: more than 256 kB is no scenario`);
  const text = await file.text();
  try {
    await engines.A.changed(text, {});
  } catch (error) {
    return complain(`${file.name}: ${error.message}`);
  }
  await choose(own(text, file.name), {});
}

// -- choosing

async function choose(chosen, state) {
  experiment = chosen;
  pause();
  $("experiment").value = chosen.name;
  document.title = `${chosen.title}: Sojourn`;
  $("about").textContent = chosen.about;
  for (const name of SIDES) sides[name].changes = state[name] ?? {};
  furnish();
  remember();
  await restart();
}

function furnish() {
  const described = describe();
  for (const where of ["common", ...SIDES]) {
    const holder = $(where === "common" ? where : `side-${where}`);
    const answer = (values) => changed(where, values);
    const controls = new Controls(holder, described[where], disciplines, answer);
    if (where !== "common") sides[where].controls = controls;
    controls.show();
  }
}

/** The controls of an experiment, with the values that were changed. */
function describe() {
  const found = structuredClone(experiment.controls ?? { common: [], A: [], B: [] });
  for (const name of SIDES) {
    for (const control of [...found.common, ...found[name]]) {
      const value = sides[name].changes[control.path];
      if (value !== undefined && typeof value !== "object") control.value = value;
    }
    const own = sides[name].changes[QDISC];
    if (own) found[name] = Controls.of(disciplines, own);
    for (const control of found[name]) {
      if (control.path !== QDISC)
        control.value = sides[name].changes[control.path] ?? control.value;
    }
    // Of a scenario from elsewhere only the discipline is offered, whatever it has.
    if (found[name].length === 0)
      found[name] = [{ ...Object.values(disciplines)[0][0], value: "" }];
  }
  return found;
}

async function guide(number) {
  const step = tour[number];
  $("step").hidden = !step;
  $("tour").value = step ? String(number) : "";
  if (!step) return remember();
  $("step").textContent =
    `${number + 1} of ${tour.length}. ${step.title}. ${step.question} ${step.task}`;
  setSpeed(step.speed);
  const chosen = experiments.find((each) => each.name === step.experiment);
  await choose({ ...chosen, sides: { ...chosen.sides, ...step.sides } }, step.set ?? {});
}

function setSpeed(value) {
  speed = SPEEDS.includes(value) ? value : 1;
  $("speed").value = String(speed);
}

function listen() {
  $("play").addEventListener("click", () => (playing ? pause() : play()));
  $("once").addEventListener("click", once);
  $("restart").addEventListener("click", () => {
    pause();
    restart();
  });
  const told = (work) => () => work().catch((error) => complain(error.message));
  $("fork").addEventListener("click", told(fork));
  $("speed").addEventListener("change", () => {
    setSpeed(Number($("speed").value));
    remember();
  });
  $("whatif").addEventListener("change", () => restart().then(() => whole() && play()));
  $("experiment").addEventListener("change", () => {
    guide(-1);
    choose(
      experiments.find((each) => each.name === $("experiment").value),
      {},
    );
  });
  $("tour").addEventListener("change", () =>
    guide($("tour").value === "" ? -1 : Number($("tour").value)),
  );
  for (const name of SIDES)
    $(`toml-${name}`).addEventListener(
      "click",
      told(() => toml(name)),
    );
  $("csv").addEventListener("click", csv);
  $("png").addEventListener("click", png);
  $("open").addEventListener("click", () => $("file").click());
  $("file").addEventListener("change", () => $("file").files[0] && read($("file").files[0]));
  $("link").addEventListener("click", async () => {
    await navigator.clipboard?.writeText(location.href);
    $("status").textContent = "The address of this setting is copied.";
  });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0]) read(event.dataTransfer.files[0]);
  });
  addEventListener("keydown", (event) => {
    if (event.key === " " && event.target === document.body) {
      event.preventDefault();
      $("play").click();
    }
  });
  dark.addEventListener("change", draw);
}

let compiled;

async function begin() {
  const option = (text, value) =>
    Object.assign(document.createElement("option"), { textContent: text, value });
  $("experiment").append(...experiments.map((each) => option(each.title, each.name)));
  $("experiment").append(Object.assign(option("Your scenario", ""), { hidden: true }));
  $("tour").append(
    option("–", ""),
    ...tour.map((each, n) => option(`${n + 1}. ${each.title}`, String(n))),
  );
  $("speed").append(...SPEEDS.map((each) => option(`${each}×`, String(each))));
  setSpeed(1);
  pictures();
  listen();
  const packed = Uint8Array.from(atob($("wasm").textContent), (c) => c.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  compiled = await WebAssembly.compile(await new Response(plain).arrayBuffer());
  for (const name of SIDES) engines[name] = await Side.open(compiled);
  requestAnimationFrame(frame);
  const state = recalled();
  if (state?.tour && tour[state.tour - 1]) await guide(state.tour - 1);
  else {
    setSpeed(state?.s ?? 1);
    const named = experiments.find((each) => each.name === state?.e);
    await choose(
      state?.t ? own(state.t) : (named ?? (first ? own(first.toml, first.title) : experiments[0])),
      state ?? {},
    );
  }
  document.documentElement.dataset.ready = "yes";
}

begin().catch((error) => complain(`The engine could not be started: ${error.message}`));
