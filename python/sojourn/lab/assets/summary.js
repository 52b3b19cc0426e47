// The measures of both runs once they are over, as a table.

import { shown } from "./values.js";

const MEASURES = [
  ["Mean queueing delay", "ms", (link) => 1e3 * link.sojourn_s?.mean],
  ["99th percentile of delay", "ms", (link) => 1e3 * link.sojourn_s?.p99],
  ["Throughput", "Mb/s", (link) => 1e-6 * link.throughput_bps],
  ["Utilisation", "%", (link) => 100 * link.utilisation],
  ["Loss", "%", (link) => 100 * link.loss],
  ["Marked", "%", (link) => 100 * link.mark_fraction],
  ["Mean queue", "packets", (link) => link.queue_packets?.mean],
];

/** @param {import("./run.js").Run[]} runs */
export function summary(runs) {
  const element = document.createElement("table");
  const add = (parent, name, text, more = {}) => {
    const made = Object.assign(document.createElement(name), { textContent: text, ...more });
    parent.append(made);
    return made;
  };
  add(element, "caption", "The whole run, after its warm-up");
  const head = element.createTHead().insertRow();
  add(head, "th", "");
  for (const { name } of runs)
    add(head, "th", name, { scope: "col", className: `side-${name.toLowerCase()}` });
  const body = element.createTBody();
  const line = (words, unit, values) => {
    const row = body.insertRow();
    add(row, "th", `${words}, ${unit}`, { scope: "row" });
    for (const value of values) add(row, "td", shown(value));
  };
  const links = runs.map((run) => run.summary.links.find(({ name }) => name === run.link));
  for (const [words, unit, of] of MEASURES) {
    const values = links.map(of);
    if (values.some(Number.isFinite)) line(words, unit, values);
  }
  const all = runs.map((run) => run.summary.groups);
  for (const [place, { name }] of all[0].entries()) {
    const pair = all.map((groups) => groups[place]);
    const times = pair.map((each) => 1e3 * each?.response_time_s?.p50);
    if (times.some((each) => each > 0)) line(`${name}: median response time`, "ms", times);
    const goodputs = pair.map((each) => 1e-6 * each?.goodput_bps);
    if (!times.some((each) => each > 0) && goodputs.some(Number.isFinite)) {
      line(`${name}: goodput`, "Mb/s", goodputs);
    }
  }
  return element;
}
