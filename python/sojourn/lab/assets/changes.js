// Values by dotted path: what is set, and what a simulation under way takes.

import { number } from "./values.js";

export const QDISC = "bottleneck.qdisc";

/** What is set once `values` are, too: another discipline has other parameters. */
export function after(set, values) {
  const kept = Object.entries(set).filter(([path]) => !(QDISC in values && path.startsWith(QDISC)));
  return { ...Object.fromEntries(kept), ...values };
}

/** Paths and values one by one, as a simulation takes them, or refuses them in words. */
export function each(values) {
  return Object.entries(values).map(([path, value]) =>
    typeof value === "object" ? [`${path}.kind`, value.kind] : [path, value],
  );
}

/** An instant as a scenario writes it, to the nanosecond. */
export const written = (seconds) => `${Math.round(seconds * 1e9)}ns`;

export const seconds = (instant) => number(instant, "time") / 1e9;

/** What is set at a time, of a start and of changes at instants. */
export function current({ from, later }, time) {
  const past = later.filter(({ at }) => number(at, "time") <= Math.round(time * 1e9));
  return past.reduce((set, change) => after(set, change.set), from);
}
