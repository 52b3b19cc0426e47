// Axes of a picture whose horizontal is no time.

import { fitted, ticks } from "./strip.js";

const PAD = { left: 46, right: 20, top: 8, bottom: 34 };

/** What is left between the axes of a canvas. */
export function inside(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  return { width: width - PAD.left - PAD.right, height: height - PAD.top - PAD.bottom };
}

/**
 * A plane with ticks, clipped to its inside: `x` and `y` give places on the canvas.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {{x: number[], y: number[], words: string, logarithmic?: boolean, ink: object}} what least
 *   and most of both axes, what the horizontal one counts, and how
 * @param {(plane: {context: object, x: Function, y: Function}) => void} draw
 */
export function plane(canvas, { x: ends, y: [low, high], words, logarithmic, ink }, draw) {
  const share = logarithmic ? Math.log10 : Number;
  const [left, right] = ends.map(share);
  const { context, width, height } = fitted(canvas);
  const [wide, tall] = [width - PAD.left - PAD.right, height - PAD.top - PAD.bottom];
  const x = (value) => PAD.left + ((share(value) - left) / (right - left)) * wide;
  const y = (value) => height - PAD.bottom - ((value - low) / (high - low)) * tall;
  context.font = "12px Helvetica, Arial, sans-serif";
  context.lineWidth = 1;
  context.strokeStyle = ink.grid;
  context.fillStyle = ink.quiet;
  const line = (x1, y1, x2, y2) => {
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
  };
  const rows = ticks(low, high, Math.max(2, height / 45));
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const value of rows.found) {
    const at = Math.round(y(value)) + 0.5;
    line(PAD.left, at, width - PAD.right, at);
    context.fillText(value.toFixed(rows.places).replace("-", "−"), PAD.left - 6, at);
  }
  const columns = logarithmic ? decades(left, right) : ticks(left, right, Math.max(2, width / 90));
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  for (const value of columns.found) {
    const at = Math.round(x(value)) + 0.5;
    line(at, PAD.top, at, height - PAD.bottom);
    context.fillText(value.toFixed(columns.places).replace("-", "−"), at, height - PAD.bottom + 14);
  }
  context.fillText(words, PAD.left + wide / 2, height - 4);
  context.save();
  context.beginPath();
  context.rect(PAD.left, PAD.top, wide, tall);
  context.clip();
  draw({ context, x, y });
  context.restore();
}

/** Ticks at powers of ten, and between them where these are few. */
function decades(left, right) {
  const steps = right - left > 2.5 ? [1] : [1, 2, 5];
  const found = [];
  for (let power = Math.floor(left); power <= right; power++) {
    found.push(...steps.map((step) => step * 10 ** power));
  }
  const seen = found.filter((value) => value >= 10 ** left * 0.999 && value <= 10 ** right * 1.001);
  return { found: seen, places: Math.max(0, -Math.floor(left)) };
}

/** A line through points, as far as they are numbers. */
export function course({ context, x, y }, xs, ys) {
  context.beginPath();
  for (let i = 0; i < xs.length; i++) context.lineTo(x(xs[i]), y(ys[i]));
  context.stroke();
}

export function dot({ context, x, y }, [across, up], radius) {
  context.beginPath();
  context.arc(x(across), y(up), radius, 0, 2 * Math.PI);
  context.fill();
}
