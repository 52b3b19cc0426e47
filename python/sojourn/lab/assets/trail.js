// Utilisation against delay: where each side is, and where it came from.

import { course, dot, plane } from "./plane.js";
import { placeOf } from "./strip.js";

const POINTS = 30;

/** Means of a run's delay, in ms, and utilisation, in percent, over equal parts of a time. */
export function means({ time_s, queue_s, throughput_bps, rate_bps }, from, to) {
  const found = { delay: [], use: [] };
  for (let part = 0; part < POINTS; part++) {
    const edge = (share) => placeOf(time_s, from + ((to - from) * share) / POINTS);
    let [delay, bits, room, count] = [0, 0, 0, 0];
    for (let i = Math.max(1, edge(part)); i < edge(part + 1); i++) {
      const passed = time_s[i] - time_s[i - 1];
      if (!(queue_s[i] >= 0 && throughput_bps[i] >= 0)) continue;
      delay += queue_s[i];
      bits += throughput_bps[i] * passed;
      // Where the rate changes, the time before has some of both.
      room += Math.max(rate_bps[i - 1], rate_bps[i]) * passed;
      count += 1;
    }
    if (count === 0 || room === 0) continue;
    found.delay.push((1e3 * delay) / count);
    found.use.push((100 * bits) / room);
  }
  return found;
}

/** @param {{runs: import("./run.js").Run[], from: number, to: number, ink: object}} what */
export function trail(canvas, { runs, from, to, ink }) {
  const seen = runs
    .filter(({ columns }) => columns.queue_s)
    .map(({ name, columns }) => ({ name, ...means(columns, Math.max(0, from), to) }));
  const most = Math.max(2, ...seen.flatMap(({ delay }) => delay)) * 1.08;
  const axes = { x: [0, most], y: [0, 105], words: "queueing delay, ms", ink };
  plane(canvas, axes, (made) => {
    for (const { name, delay, use } of seen) {
      const colour = ink[name.toLowerCase()];
      Object.assign(made.context, { strokeStyle: colour, fillStyle: colour, lineWidth: 1.2 });
      made.context.globalAlpha = 0.45;
      course(made, delay, use);
      for (let i = 0; i < delay.length; i++) {
        made.context.globalAlpha = 0.15 + (0.85 * (i + 1)) / delay.length;
        dot(made, [delay[i], use[i]], i === delay.length - 1 ? 6 : 2.5);
      }
    }
    made.context.globalAlpha = 1;
  });
}
