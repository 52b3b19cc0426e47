// The laboratory: two simulations run in this page, and a slider that is moved acts at once.

import { packed, unpacked } from "./address.js";
import { Bench, SIDES } from "./bench.js";
import { Controls } from "./controls.js";
import { described, ofScenario } from "./described.js";
import { csv, png, save } from "./files.js";
import { Pictures } from "./pictures.js";
import { summary } from "./summary.js";
import { SvgCanvas, svg } from "./svg.js";
import { Theory } from "./theory.js";
import { shown } from "./values.js";

const $ = (id) => document.getElementById(id);
const { experiments, disciplines, all, tour, first } = JSON.parse($("lab").textContent);
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 100, 1000];
const LARGEST = 256_000;

let bench;
let pictures;
let theory;
let stale = true;
let last = performance.now();
const shelves = {};

// -- what the page says

function complain(text) {
  $("error").textContent = text;
  $("error").hidden = !text;
}

function status(text) {
  $("status").textContent = text;
}

/** Does what was asked for; what goes wrong is said. */
const told =
  (work) =>
  async (...rest) => {
    complain("");
    try {
      await work(...rest);
    } catch (error) {
      complain(error.message);
    }
  };

function frame(now) {
  bench.tick(Math.min(0.1, (now - last) / 1000));
  last = now;
  if (stale) draw();
  requestAnimationFrame(frame);
}

function draw() {
  stale = false;
  pictures.draw(bench, theory);
  $("clock").textContent = `${shown(bench.time)} of ${shown(bench.duration)} s`;
  $("play").textContent = bench.playing ? "Pause" : "Play";
  if (!bench.done) $("summary").replaceChildren();
}

/** Controls as they are seen, but for the ends of sliders, which stay while these hold a value. */
const seen = (controls) =>
  JSON.stringify(controls, (key, value) =>
    key === "least" || key === "most" ? undefined : value,
  );

/** Shows the values that are set, and keeps them in the address. */
function furnish() {
  const set = Object.fromEntries(SIDES.map((name) => [name, bench.current(name)]));
  const { controls } = bench.experiment;
  const forked = bench.forked ? { ...controls, B: structuredClone(controls.A) } : controls;
  const found = described({ controls: forked }, set, disciplines);
  for (const [where, shelf] of Object.entries(shelves)) {
    // What is in a hand stays there.
    if (seen(shelf.described) === seen(found[where])) continue;
    shelf.described = found[where];
    shelf.show();
  }
  for (const name of SIDES)
    $(`side-${name}`).querySelector("legend span").textContent = shelves[name].kind ?? "";
  remember();
  model();
}

/** Asks the models of what is set; where they say nothing, there is nothing to see. */
async function model() {
  try {
    await theory.ask(await bench.present(), await bench.starts());
  } catch {
    // What is wrong with the scenario is said where it runs.
  }
}

function refused(where, paths, why) {
  for (const path of paths) shelves[where].refuse(path, why);
  complain(why);
}

// -- the address

function remember() {
  const { experiment, speed, whole, forked, changes } = bench;
  const moved = SIDES.filter((name) => {
    const { from, later } = changes[name];
    return later.length > 0 || Object.keys(from).length > 0;
  });
  const step = $("tour").value === "" ? undefined : Number($("tour").value) + 1;
  const state = { e: experiment.name, s: speed };
  if (experiment.name === "") Object.assign(state, { t: experiment.toml, n: experiment.title });
  if (step) state.tour = step;
  if (whole) state.w = true;
  if (forked) state.f = true;
  for (const name of moved) state[name] = changes[name];
  const short = step && moved.length === 0 && !whole && !forked && speed === tour[step - 1].speed;
  history.replaceState(null, "", `#${short ? `tour=${step}` : packed(state)}`);
}

/** Opens what the address holds. */
async function recall() {
  const state = unpacked(location.hash);
  const step = tour[state?.tour - 1];
  setSpeed(state?.s ?? step?.speed ?? 1);
  setWhole(Boolean(state?.w));
  const changes = { A: state?.A, B: state?.B, forked: Boolean(state?.f) };
  if (step) await guide(state.tour - 1, changes);
  else {
    guided(undefined);
    const named = experiments.find((each) => each.name === state?.e);
    const mine = state?.t ? { title: state.n, toml: state.t } : !named && first;
    let wrong = "";
    const chosen = mine && (await own(mine).catch((error) => void (wrong = error.message)));
    await choose(chosen || (named ?? experiments[0]), wrong ? {} : changes);
    if (wrong) complain(wrong);
  }
  const unknown =
    state && !step && ("tour" in state || (!state.t && bench.experiment.name !== state.e));
  if (state === null || unknown) {
    complain(`The address holds no setting that is known here; this is “${bench.experiment.title}”.`);
  }
}

// -- choosing

async function choose(experiment, changes = {}) {
  complain("");
  status("");
  $("experiment").value = experiment.name;
  document.title = `${experiment.title}: Sojourn`;
  $("about").textContent = experiment.about;
  await bench.choose(experiment, changes);
  const { links = [], link } = bench.runs.A;
  const count = links.filter((name) => name !== "reverse").length;
  if (count > 1) status(`The pictures show ${link}, one of ${count} links.`);
  if (bench.whole) bench.play();
}

async function own({ title = "Your scenario", toml }) {
  const fields = await bench.fields(toml);
  const controls = ofScenario(fields, all, disciplines);
  const about = controls.A.length
    ? "A scenario of your own on both sides: change one of them."
    : "A scenario of your own. It has no single bottleneck: what is moved, moves on both sides.";
  return { name: "", title, about, toml, sides: { A: {}, B: {} }, controls };
}

async function read(file) {
  if (file.size > LARGEST) throw new Error(`${file.name}: more than 256 kB is no scenario`);
  const toml = await file.text();
  let found;
  try {
    found = await own({ title: file.name, toml });
  } catch (error) {
    throw new Error(`${file.name}: ${error.message}`);
  }
  guided(undefined);
  await choose(found);
}

/** Says which step of the tour this is. */
function guided(number) {
  const step = tour[number];
  $("step").hidden = !step;
  $("tour").value = step ? String(number) : "";
  if (!step) return;
  const place = `${number + 1} of ${tour.length}.`;
  $("step").textContent = `${place} ${step.title}. ${step.question} ${step.task}`;
}

async function guide(number, changes) {
  guided(number);
  const { experiment, set = {} } = tour[number];
  const start = (name) => changes?.[name] ?? { from: set[name] ?? {}, later: [] };
  const chosen = experiments.find(({ name }) => name === experiment);
  await choose(chosen, { ...changes, A: start("A"), B: start("B") });
}

function setSpeed(value) {
  bench.speed = SPEEDS.includes(value) ? value : 1;
  $("speed").value = String(bench.speed);
  stale = true;
}

function setWhole(value) {
  bench.whole = value;
  $("whatif").checked = value;
}

// -- what is pressed

const pressed = {
  play: () => (bench.playing ? bench.pause() : bench.play()),
  once: () => bench.step(),
  restart: () => {
    bench.pause();
    return bench.afresh();
  },
  fork: async () => {
    const time = await bench.fork();
    status(`Two futures of A from ${shown(time)} s on: change B, then play.`);
  },
  "toml-A": () => toml("A"),
  "toml-B": () => toml("B"),
  csv: () => save("course.csv", csv(Object.values(bench.runs)), "text/csv"),
  png: async () => {
    const views = Object.values(pictures.shown);
    save(`${stem()}.png`, await png(views, legend(), pictures.ink));
  },
  svg: () => save(`${stem()}.svg`, drawn(), "image/svg+xml"),
  open: () => $("file").click(),
  link: async () => {
    if (!navigator.clipboard)
      throw new Error("Browsers copy for pages over https only: copy the address from its bar.");
    await navigator.clipboard.writeText(location.href);
    status("The address of this setting is copied.");
  },
};

const stem = () => bench.experiment.name || "scenario";

/** Which colour is which side, and its discipline. */
const legend = () =>
  SIDES.map((name) => ({
    text: [name, shelves[name].kind].filter(Boolean).join(": "),
    colour: pictures.ink[name.toLowerCase()],
  }));

/** The pictures as SVG. */
function drawn() {
  const views = Object.entries(pictures.shown).map(([name, view]) => [name, new SvgCanvas(view)]);
  pictures.draw(bench, theory, Object.fromEntries(views));
  return svg(
    views.map(([, view]) => view),
    legend(),
    pictures.ink,
  );
}

async function toml(name) {
  save(`${stem()}-${name}.toml`, await bench.saved(name), "text/plain");
}

const moved = {
  speed: () => {
    setSpeed(Number($("speed").value));
    remember();
  },
  whatif: async () => {
    setWhole($("whatif").checked);
    bench.pause();
    const begun = bench.afresh();
    if (bench.whole) bench.play();
    await begun;
  },
  experiment: () => {
    guided(undefined);
    return choose(experiments.find((each) => each.name === $("experiment").value));
  },
  tour: () => {
    if ($("tour").value === "") {
      guided(undefined);
      return remember();
    }
    setSpeed(tour[Number($("tour").value)].speed);
    return guide(Number($("tour").value));
  },
  file: () => {
    const [file] = $("file").files;
    // The same file may be opened again.
    $("file").value = "";
    return file && read(file);
  },
};

function listen() {
  for (const [name, work] of Object.entries(pressed)) $(name).addEventListener("click", told(work));
  for (const [name, work] of Object.entries(moved)) $(name).addEventListener("change", told(work));
  addEventListener("hashchange", told(recall));
  document.querySelector(".skip").addEventListener("click", (event) => {
    // The address is the setting's.
    event.preventDefault();
    $("watch").focus();
  });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) told(read)(file);
  });
  addEventListener("keydown", (event) => {
    if (event.key === " " && event.target === document.body) {
      event.preventDefault();
      $("play").click();
    }
  });
  const dyed = () => {
    pictures.dye();
    stale = true;
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dyed);
  // Paper is white.
  const paper = (printed) => () => {
    document.documentElement.classList.toggle("paper", printed);
    dyed();
    draw();
  };
  addEventListener("beforeprint", paper(true));
  addEventListener("afterprint", paper(false));
  new ResizeObserver(() => (stale = true)).observe($("watch"));
}

async function begin() {
  // Within another page there is a link to all of it.
  document.documentElement.classList.toggle("framed", window.parent !== window);
  const option = (text, value) =>
    Object.assign(document.createElement("option"), { textContent: text, value });
  $("experiment").append(...experiments.map((each) => option(each.title, each.name)));
  $("experiment").append(Object.assign(option("Your scenario", ""), { hidden: true }));
  const steps = tour.map((each, n) => option(`${n + 1}. ${each.title}`, String(n)));
  $("tour").append(option("–", ""), ...steps);
  $("speed").append(...SPEEDS.map((each) => option(`${each}×`, String(each))));
  pictures = new Pictures($("watch"));
  const bytes = Uint8Array.from(atob($("wasm").textContent), (c) => c.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const module = await WebAssembly.compile(await new Response(plain).arrayBuffer());
  theory = new Theory(module, () => (stale = true));
  bench = await Bench.open(module, {
    stale: () => (stale = true),
    status,
    complain,
    refused,
    set: furnish,
    ended: () => $("summary").replaceChildren(summary(Object.values(bench.runs))),
  });
  for (const where of ["common", ...SIDES]) {
    const holder = $(where === "common" ? where : `side-${where}`);
    const answer = told((values) => bench.change(where, values));
    shelves[where] = new Controls(holder, [], disciplines, answer);
  }
  listen();
  await recall();
  requestAnimationFrame(frame);
  document.documentElement.dataset.ready = "yes";
}

begin().catch((error) => complain(`The engine could not be started: ${error.message}`));
