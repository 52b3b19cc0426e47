// What can be moved, as data: of an experiment, of a discipline, of a scenario of one's own.

import { QDISC } from "./changes.js";
import { widen } from "./values.js";

/** The controls of a discipline with its values. */
export function ofDiscipline(disciplines, qdisc) {
  const { kind, ...values } = typeof qdisc === "string" ? { kind: qdisc } : qdisc;
  const found = structuredClone(disciplines[kind] ?? [Object.values(disciplines)[0][0]]);
  found[0].value = kind;
  // What a scenario brings along can be kept, though not moved.
  if (!found[0].choices.includes(kind)) found[0].choices.push(kind);
  for (const control of found.slice(1)) {
    control.value = values[control.path.slice(QDISC.length + 1)] ?? control.value;
    widen(control);
  }
  return found;
}

/** The controls with the values that are set on each side. */
export function described({ controls }, { A, B }, disciplines) {
  const found = structuredClone(controls);
  for (const [name, set] of Object.entries({ common: A, A, B })) {
    if (set[QDISC] && found[name].some(({ path }) => path === QDISC)) {
      found[name] = ofDiscipline(disciplines, set[QDISC]);
    }
    for (const control of found[name]) {
      const [path, end] = control.path.split("#");
      const value = set[path];
      if (value === undefined || typeof value === "object") continue;
      control.value = end
        ? String(value)
            .split("..")
            .at(end === "low" ? 0 : -1)
        : value;
      widen(control);
    }
    for (const control of found[name]) implied(control, found[name], set);
  }
  return found;
}

/** A switch that nobody has set is on where the congestion control beside it turns it on. */
function implied(control, controls, set = {}) {
  const congestion = controls.find(({ path }) => path === "tcp.congestion");
  if (!control.on_with?.length || control.path in set || !congestion) return;
  control.value = control.on_with.includes(congestion.value);
}

/**
 * The controls of a scenario of one's own.
 *
 * @param {object} fields what the scenario says
 * @param {object[]} all the controls of a scenario that has everything
 * @param {Record<string, object[]>} disciplines
 */
export function ofScenario(fields, all, disciplines) {
  const common = all.filter(({ path }) => !path.startsWith("traffic."));
  const ofGroup = new Map();
  for (const control of all) {
    const part = /^traffic\.\d+\.(.*)$/.exec(control.path)?.[1];
    if (part) ofGroup.set(part, control);
  }
  const groups = fields.traffic.flatMap((group, place) => {
    const name = group.name ?? group.kind;
    return [...ofGroup].map(([part, control]) => ({
      ...control,
      path: `traffic.${place}.${part}`,
      label: `${name[0].toUpperCase()}${name.slice(1)}:${control.label.split(":")[1]}`,
    }));
  });
  // A group stands between the link and what holds for all.
  const link = common.filter(({ path }) => path.startsWith("bottleneck."));
  const rest = common.filter(({ path }) => !path.startsWith("bottleneck."));
  const valued = [...link, ...groups, ...rest].flatMap((control) => withValue(control, fields));
  for (const control of valued) implied(control, valued);
  const qdisc = fields.bottleneck?.qdisc;
  const side = () => (qdisc ? ofDiscipline(disciplines, qdisc) : []);
  return { common: valued, A: side(), B: side() };
}

function withValue(control, fields) {
  const [path, end] = control.path.split("#");
  let value = path.split(".").reduce((part, name) => part?.[name], fields);
  if (value?.kind) value = value.kind;
  const range = typeof value === "string" && value.includes("..");
  if (range !== Boolean(end)) return [];
  // Hosts have defaults that a scenario need not name.
  const given = value !== undefined && value !== null;
  if (path.startsWith("tcp.")) value ??= control.value;
  if (value === undefined || value === null || typeof value === "object") return [];
  if (end) value = value.split("..")[end === "low" ? 0 : 1];
  const valued = { ...control, value, on_with: given ? [] : control.on_with };
  widen(valued);
  return [valued];
}
