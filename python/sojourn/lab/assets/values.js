// Quantities as scenarios write them, and where they are on a slider.

const UNITS = {
  rate: [
    ["tbit", 1e12],
    ["gbit", 1e9],
    ["mbit", 1e6],
    ["kbit", 1e3],
    ["bit", 1],
  ],
  time: [
    ["s", 1e9],
    ["ms", 1e6],
    ["us", 1e3],
    ["ns", 1],
  ],
};
const LONG = [
  ["min", 60e9],
  ["h", 3600e9],
];
// As people write them: 20 Mb/s, 20Mbps, 20 Mbit/s. A large B counts bytes.
const ALIKE = /^([tgmkTGMK]?)b(?:it)?(?:\/s|ps)$/;

/** A number of what the unit counts in: nanoseconds, bits per second; NaN if it is none. */
export function number(value, unit) {
  if (typeof value === "number") return value;
  const [, digits, unitName = ""] =
    /^\s*([0-9.]+(?:e[+-]?\d+)?)\s*([a-zµμ/]*)\s*$/i.exec(value) ?? [];
  const name = unitName.replace(ALIKE, "$1bit").replace(/^[µμ]s$/, "us").toLowerCase();
  const known = new Map([...(UNITS[unit] ?? []), ...(unit === "time" ? LONG : []), ["", 1]]);
  return digits === undefined ? NaN : Number(digits) * (known.get(name) ?? NaN);
}

/** As a scenario takes it, with three digits. */
export function written(value, { unit, whole, least = 1 }) {
  if (!UNITS[unit]) {
    const digits = Number(value.toPrecision(value >= 1e4 ? 4 : 3));
    return whole ? Math.max(Math.min(1, least), Math.round(digits)) : digits;
  }
  if (value <= 0) return unit === "time" ? "0ms" : "1kbit";
  const [name, factor] = UNITS[unit].find(([, each]) => value >= each) ?? UNITS[unit].at(-1);
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
