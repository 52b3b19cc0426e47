// Response times of web users: which share of them was no longer than a time.

import { plane } from "./plane.js";
import { placeOf } from "./strip.js";
import { shown, whole } from "./values.js";

const FEWEST = 5;

/** Response times in ms of the exchanges that finished in a time, in order. */
export function between({ finished_s, response_time_s }, from, to) {
  const part = response_time_s.slice(placeOf(finished_s, from), placeOf(finished_s, to));
  return Float64Array.from(part, (seconds) => 1e3 * seconds).sort();
}

/**
 * Draws a step for each exchange; gives what is seen in words.
 *
 * @param {{runs: import("./run.js").Run[], from: number, to: number, ink: object}} what
 */
export function responses(canvas, { runs, from, to, ink }) {
  const seen = runs
    .map(({ name, exchanges }) => ({ name, times: between(exchanges, from, to) }))
    .filter(({ times }) => times.length >= FEWEST);
  const least = Math.min(20, ...seen.map(({ times }) => times[0]));
  const most = Math.max(2000, ...seen.map(({ times }) => times.at(-1)));
  const axes = { x: [least, most], y: [0, 100], words: "response time, ms", logarithmic: true, ink };
  plane(canvas, axes, ({ context, x, y }) => {
    context.lineWidth = 1.8;
    for (const { name, times } of seen) {
      context.strokeStyle = ink[name.toLowerCase()];
      context.beginPath();
      context.moveTo(x(times[0]), y(0));
      let height = 0;
      for (let i = 0; i < times.length; i++) {
        context.lineTo(x(times[i]), y(height));
        height = (100 * (i + 1)) / times.length;
        context.lineTo(x(times[i]), y(height));
      }
      context.lineTo(x(most), y(100));
      context.stroke();
    }
  });
  return seen.map(({ name, times }) => {
    const within = (share) => shown(times[Math.ceil(share * times.length) - 1]);
    return `${name}: ${whole(times.length)} exchanges, half within ${within(0.5)} ms, 95 % within ${within(0.95)} ms.`;
  });
}
