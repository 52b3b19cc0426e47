// Quantities as scenarios write them, and where they are on a slider.

// As the engine reads them (crates/base/src/units/text.rs), largest first: how a unit is written,
// how many of the smallest it is, and what else is read in exactly this case.
const UNITS = {
  time: [
    ["h", 3600e9],
    ["min", 60e9],
    ["s", 1e9],
    ["ms", 1e6],
    // The micro sign and the Greek letter.
    ["us", 1e3, "\u00b5s", "\u03bcs"],
    ["ns", 1],
  ],
  rate: [
    ["tbit", 1e12, "Tb/s", "tb/s", "Tbps", "Tbit/s", "tbit/s"],
    ["gbit", 1e9, "Gb/s", "gb/s", "Gbps", "Gbit/s", "gbit/s"],
    ["mbit", 1e6, "Mb/s", "mb/s", "Mbps", "Mbit/s", "mbit/s"],
    ["kbit", 1e3, "kb/s", "Kb/s", "Kbps", "kbit/s", "Kbit/s"],
    ["bit", 1, "b/s", "bit/s"],
  ],
  size: [
    ["GiB", 2 ** 30],
    ["MiB", 2 ** 20],
    ["KiB", 2 ** 10],
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3, "KB"],
    ["B", 1],
  ],
};
// A small b would be bits; all other units are read in any case.
const EXACT = ["GB", "MB", "kB", "B"];
// A slider has 90s, not 1.5min.
const LONG = ["h", "min"];
const QUANTITY = /^\p{White_Space}*([\d.]*)\p{White_Space}*(.*?)\p{White_Space}*$/su;
const DECIMAL = /^(?=\.?\d)(\d*)\.?(\d{0,18})$/;
const MOST = 2n ** 64n;

const lower = (text) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/**
 * A number of what the unit counts in: nanoseconds, bits per second, bytes; NaN if the engine would
 * not read it so. Without a unit it is the number itself.
 */
export function number(value, unit) {
  if (typeof value === "number") return value;
  if (!unit) return /^\s*[\d.]+(e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : NaN;
  const [, digits, name] = QUANTITY.exec(value);
  const known = UNITS[unit].find(
    ([written, , ...also]) =>
      [written, ...also].includes(name) ||
      (!EXACT.includes(written) && lower(written) === lower(name)),
  );
  const [, whole, fraction] = DECIMAL.exec(digits) ?? [];
  if (!known || whole === undefined) return NaN;
  // In integers, halves upwards.
  const ten = 10n ** BigInt(fraction.length);
  const exact = (BigInt(whole + fraction) * BigInt(known[1]) + ten / 2n) / ten;
  return exact < MOST ? Number(exact) : NaN;
}

/** As a scenario takes it, with three digits. */
export function written(value, { unit, whole, least = 1 }) {
  if (!UNITS[unit]) {
    const digits = Number(value.toPrecision(value >= 1e4 ? 4 : 3));
    return whole ? Math.max(Math.min(1, least), Math.round(digits)) : digits;
  }
  if (value <= 0) return unit === "time" ? "0ms" : "1kbit";
  const short = UNITS[unit].filter(([name]) => !LONG.includes(name));
  const [name, factor] = short.find(([, each]) => value >= each) ?? short.at(-1);
  return `${Number((value / factor).toPrecision(3))}${name}`;
}

/** As a person reads it: 7.25e-6 for 0.00000725. */
export function legible(value) {
  const small = typeof value === "number" && value !== 0 && Math.abs(value) < 1e-3;
  return small ? value.toExponential().replace("e+", "e") : String(value);
}

/** 0 to 1000: logarithmic, but by cubes where the least is 0. */
export function place(value, { least, most }) {
  const share =
    least > 0 ? Math.log(value / least) / Math.log(most / least) : Math.cbrt(value / most);
  return Math.round(1000 * Math.min(1, Math.max(0, share)));
}

/** Lets a slider reach as far as its value. */
export function widen(control) {
  const size = control.kind === "slider" ? number(control.value, control.unit) : NaN;
  if (!Number.isFinite(size)) return;
  control.least = Math.min(control.least, Math.max(0, size));
  control.most = Math.max(control.most, size);
}

export function valueAt(position, { least, most }) {
  const share = position / 1000;
  return least > 0 ? least * (most / least) ** share : most * share ** 3;
}

/** Three significant digits, thousands apart. */
export function shown(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  const rounded = Number(value.toPrecision(digits));
  const places =
    rounded === 0 ? 0 : Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(rounded))));
  return apart(rounded, Math.min(places, 6));
}

/** A count, thousands apart. */
export const whole = (count) => apart(count, 0);

function apart(value, places) {
  return value
    .toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places })
    .replaceAll(",", "\u202f")
    .replace("-", "−");
}
