// The pictures of a bench, and a sentence under each that says what to look for.

import { SIDES } from "./bench.js";
import { queue } from "./queue.js";
import { nyquist } from "./nyquist.js";
import { responses } from "./responses.js";
import { FLOWS } from "./run.js";
import { strip } from "./strip.js";
import { trail } from "./trail.js";

const STRIPS = [
  {
    name: "delay",
    title: "Queueing delay, ms",
    of: "queue_s",
    scale: 1e3,
    least: 1,
    look:
      "How long a packet waits. Its lowest points tell a good queue from one that stands. " +
      "Dashed: the fluid model, where there is one; it has no slow start.",
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
    title: `Windows of flows, ${FLOWS} at most, kB`,
    of: "windows",
    scale: 1e-3,
    least: 10,
    look: "Saw teeth: a window falls after a signal and grows until the next.",
  },
];

export class Pictures {
  /** The canvases, by name, in the order in which they are seen. */
  views = {};
  #ink = {};
  #words;
  #times;

  /** @param {HTMLElement} holder */
  constructor(holder) {
    const [delay, ...others] = STRIPS;
    this.#add(holder, delay.name, [delay.title], delay.look, "wide first");
    for (const name of SIDES) {
      const side = Object.assign(document.createElement("span"), {
        className: `side-${name.toLowerCase()}`,
        textContent: name,
      });
      const title = [side, ": the packets that wait"];
      const look =
        "The next to leave is at the right; of a discipline with several queues, one stands behind " +
        "the other. A colour for each flow, or for each group of several.";
      this.#add(holder, `queue-${name}`, title, look, "", "packets");
    }
    for (const each of others) this.#add(holder, each.name, [each.title], each.look, "");
    const corner = "The best place is at the left on top: a busy link and no delay.";
    this.#add(holder, "trail", ["Utilisation, %, against delay"], corner, "square");
    const sooner = "The curve further to the left answers sooner. Short answers are its lower end.";
    const title = "Response times of web users, %";
    this.#times = this.#quiet(this.#add(holder, "responses", [title], sooner, "square"));
    const point =
      "A loop is stable if its curve does not go around −1; its distance is the margin.";
    const figure = this.#add(
      holder,
      "nyquist",
      ["Nyquist plot of the long flows"],
      point,
      "square",
    );
    this.#words = this.#quiet(figure);
    this.dye();
  }

  /** Takes the colours of the page, which change with its theme. */
  dye() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["paper", "text", "quiet", "grid", "a", "b"])
      this.#ink[name] = style.getPropertyValue(`--${name}`).trim();
  }

  get ink() {
    return this.#ink;
  }

  /** The canvases that are seen. */
  get shown() {
    const all = Object.entries(this.views);
    return Object.fromEntries(all.filter(([, view]) => !view.closest("[hidden]")));
  }

  /**
   * @param {import("./bench.js").Bench} bench
   * @param {import("./theory.js").Theory} theory
   * @param {Record<string, object>} views where it is drawn
   */
  draw(bench, theory, views = undefined) {
    const ink = this.#ink;
    const runs = Object.values(bench.runs);
    // Where neither side has a loop, the words beside it say why.
    this.views.nyquist.hidden = Object.keys(theory.loops).length === 0;
    views ??= this.#reveal(runs);
    const width = bench.whole ? bench.duration || 1 : bench.span;
    const to = Math.max(bench.time, width);
    const marks = runs.flatMap((run) =>
      run.marks.map((time) => ({ time, colour: ink[run.name.toLowerCase()] })),
    );
    for (const { name, of, scale, least } of STRIPS.filter((each) => views[each.name])) {
      const lines = runs.flatMap(({ name: side, columns }) => {
        const fine = of === "windows";
        const all = fine ? columns.windows : [columns[of] ?? []];
        const line = { times: columns.time_s, colour: ink[side.toLowerCase()] };
        const fluid = theory.fluids[side];
        const model = { ...line, times: fluid?.time_s, values: fluid?.[of], dash: [5, 4] };
        const seen = all.map((values) => ({
          ...line,
          values,
          ...(fine && { width: 1.2, alpha: 0.75 }),
        }));
        return model.values ? [...seen, model] : seen;
      });
      strip(views[name], { from: to - width, to, lines, marks, least, scale, ink });
    }
    for (const { name, packets, groups, lost, marked, columns } of runs) {
      const count = columns.queue_packets?.at(-1) ?? 0;
      queue(views[`queue-${name}`], { packets, groups, count, lost, marked, ink });
    }
    trail(views.trail, { runs, from: to - width, to, ink });
    if (views.responses) {
      const said = responses(views.responses, { runs, from: to - width, to: bench.time, ink });
      this.#times.textContent = said.join(" ");
    }
    if (views.nyquist) nyquist(views.nyquist, { loops: theory.loops, ink });
    const words = SIDES.flatMap((name) => {
      const loop =
        theory.loops[name]?.words ?? (theory.why[name] && `no loop. ${theory.why[name]}`);
      return loop ? [`${name}: ${loop.replace(/(?<![\de])-(?=\d)/g, "−")}.`] : [];
    });
    this.#words.textContent = words.join(" ");
  }

  /** Hides the pictures in which there is nothing to see; gives the others. */
  #reveal(runs) {
    const some = (of) => runs.some((run) => of(run).length > 0);
    const begun = some((run) => run.columns.time_s);
    this.#hide("windows", begun && !some((run) => run.columns.windows));
    this.#hide("responses", !some((run) => run.exchanges.finished_s));
    return this.shown;
  }

  #hide(name, hidden) {
    this.views[name].closest("figure").hidden = hidden;
  }

  #quiet(figure) {
    const words = Object.assign(document.createElement("p"), { className: "quiet" });
    figure.append(words);
    return words;
  }

  #add(holder, name, title, look, classes, canvas = "") {
    const figure = Object.assign(document.createElement("figure"), { className: classes });
    const caption = document.createElement("figcaption");
    const heading = document.createElement("b");
    heading.append(...title);
    const words = Object.assign(document.createElement("span"), { textContent: ` ${look}` });
    caption.append(heading, words);
    const view = Object.assign(document.createElement("canvas"), { className: canvas });
    view.setAttribute("role", "img");
    view.setAttribute("aria-label", `${heading.textContent}. ${look}`);
    figure.append(caption, view);
    holder.append(figure);
    this.views[name] = view;
    return figure;
  }
}
