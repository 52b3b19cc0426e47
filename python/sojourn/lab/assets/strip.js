// A picture on a canvas that scrolls with time.

const PAD = { left: 46, right: 10, top: 8, bottom: 20 };

/** The canvas in pixels of the screen; its context and its size on the page. */
export function fitted(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  const ratio = devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/** Ticks at 1, 2 or 5 times a power of ten, about so many. */
export function ticks(from, to, about) {
  const raw = (to - from) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((each) => each * power >= raw) ?? 10);
  const found = [];
  for (let k = Math.ceil(from / step); k * step <= to * (1 + 1e-9); k++) found.push(k * step);
  return { found, places: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

/** The first place in sorted `times` that is not before `time`. */
export function placeOf(times, time) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Draws lines over a span of time.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {{from: number, to: number, lines: object[], marks: object[], least: number,
 *   scale?: number, ink: object}} what
 *   a line has `times`, `values`, `colour`, `width`, `alpha`, `dash`; a mark has `time`, `colour`; values
 *   times `scale` are drawn; the axis reaches at least to `least`
 */
export function strip(canvas, { from, to, lines, marks, least, scale = 1, ink }) {
  const { context, width, height } = fitted(canvas);
  const parts = lines.map((line) => {
    const start = Math.max(0, placeOf(line.times, from) - 1);
    return { ...line, start, end: Math.min(line.times.length, placeOf(line.times, to) + 1) };
  });
  let top = least;
  for (const { values, start, end } of parts) {
    // What is missing is NaN, which is greater than nothing.
    for (let i = start; i < end; i++) if (scale * values[i] > top) top = scale * values[i];
  }
  top *= 1.08;
  const x = (time) => PAD.left + ((time - from) / (to - from)) * (width - PAD.left - PAD.right);
  const y = (value) => height - PAD.bottom - (value / top) * (height - PAD.top - PAD.bottom);

  context.font = "12px Helvetica, Arial, sans-serif";
  context.lineWidth = 1;
  const rows = ticks(0, top, Math.max(2, height / 45));
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const value of rows.found) {
    const at = Math.round(y(value)) + 0.5;
    context.strokeStyle = ink.grid;
    context.beginPath();
    context.moveTo(PAD.left, at);
    context.lineTo(width - PAD.right, at);
    context.stroke();
    context.fillStyle = ink.quiet;
    context.fillText(value.toFixed(rows.places), PAD.left - 6, at);
  }
  const columns = ticks(Math.max(0, from), to, Math.max(2, width / 110));
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  for (const time of columns.found) {
    context.fillText(
      `${time.toFixed(columns.places)} s`,
      Math.min(x(time), width - 18),
      height - 5,
    );
  }

  context.save();
  context.beginPath();
  context.rect(PAD.left, 0, width - PAD.left - PAD.right, height - PAD.bottom + 1);
  context.clip();
  for (const { time, colour } of marks) {
    context.strokeStyle = colour;
    context.setLineDash([3, 4]);
    context.beginPath();
    context.moveTo(x(time), PAD.top);
    context.lineTo(x(time), height - PAD.bottom);
    context.stroke();
  }
  context.setLineDash([]);
  context.lineJoin = "round";
  for (const { times, values, colour, width: thick = 1.7, alpha = 1, dash, ...part } of parts) {
    const { start, end } = part;
    context.strokeStyle = colour;
    context.setLineDash(dash ?? []);
    context.globalAlpha = alpha;
    context.lineWidth = thick;
    context.beginPath();
    for (let i = start; i < end; i++) context.lineTo(x(times[i]), y(scale * values[i]));
    context.stroke();
  }
  context.setLineDash([]);
  context.restore();
}
