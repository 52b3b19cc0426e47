// The loop of each side in the complex plane, and the point that it must not go around.

import { course, inside, plane } from "./plane.js";

// From the middle to either end of the vertical axis; the horizontal one has the same unit.
const MIDDLE = -0.5;
const REACH = 1.6;

/**
 * @param {{loops: Record<string, {real: Float64Array, imaginary: Float64Array}>, ink: object}} what
 *   the loops of the sides that have one
 */
export function nyquist(canvas, { loops, ink }) {
  const { width, height } = inside(canvas);
  const across = (REACH * width) / height;
  const axes = { x: [MIDDLE - across, MIDDLE + across], y: [-REACH, REACH] };
  plane(canvas, { ...axes, words: "real part", ink }, (made) => {
    const { context, x, y } = made;
    context.strokeStyle = ink.quiet;
    context.setLineDash([2, 4]);
    const angles = Array.from({ length: 91 }, (_, i) => (i * Math.PI) / 45);
    course(made, angles.map(Math.cos), angles.map(Math.sin));
    context.setLineDash([]);
    context.lineWidth = 1.8;
    context.lineJoin = "round";
    for (const [name, { real, imaginary }] of Object.entries(loops)) {
      context.strokeStyle = ink[name.toLowerCase()];
      course(made, real, imaginary);
    }
    context.strokeStyle = ink.text;
    const [left, up] = [x(-1), y(0)];
    for (const turn of [-1, 1]) {
      context.beginPath();
      context.moveTo(left - 6, up - 6 * turn);
      context.lineTo(left + 6, up + 6 * turn);
      context.stroke();
    }
    context.fillStyle = ink.text;
    context.textAlign = "center";
    context.fillText("−1", left, up - 12);
  });
}
