// The packets that wait in a queue, from the link at the right to the tail: a colour for each flow,
// or for each group where there are several.

import { fitted } from "./strip.js";

const COLOURS = [
  "#0072b2",
  "#e69f00",
  "#009e73",
  "#cc79a7",
  "#56b4e9",
  "#d55e00",
  "#8f7700",
  "#8a63b8",
];

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{packets: object | undefined, groups: number, count: number, lost: number,
 *   marked: number, ink: object}} what columns of packets, how many groups there are and packets
 *   stand in all, signals since the last picture
 */
export function queue(canvas, { packets, groups, count, lost, marked, ink }) {
  const { context, width, height } = fitted(canvas);
  const [gap, box, rows] = [2, 10, Math.max(1, Math.floor((height - 22) / 14))];
  const link = width - 34;
  context.font = "12px Helvetica, Arial, sans-serif";
  context.fillStyle = ink.quiet;
  context.strokeStyle = ink.quiet;
  context.lineWidth = 1.5;
  const middle = (rows * 14) / 2 + 2;
  context.beginPath();
  context.moveTo(link + 4, middle);
  context.lineTo(link + 28, middle);
  context.lineTo(link + 22, middle - 4);
  context.moveTo(link + 28, middle);
  context.lineTo(link + 22, middle + 4);
  context.stroke();

  const there = packets?.flow.length ?? 0;
  const room = rows * Math.floor(link / (box + gap));
  const drawn = Math.min(there, room);
  for (let i = 0; i < drawn; i++) {
    const [column, row] = [Math.floor(i / rows), i % rows];
    const whose = groups > 1 ? packets.group[i] : packets.flow[i];
    context.fillStyle = COLOURS[whose % COLOURS.length];
    const left = link - (column + 1) * (box + gap);
    context.fillRect(left, row * 14 + 3, box, box);
    if (packets.marked[i]) {
      context.strokeStyle = ink.text;
      context.strokeRect(left + 0.5, row * 14 + 3.5, box - 1, box - 1);
    }
  }
  context.fillStyle = ink.quiet;
  context.textAlign = "left";
  const words = [count === 1 ? "1 packet waits" : `${count} packets wait`];
  if (packets && count > drawn) words.push(`${drawn} drawn`);
  if (lost) words.push(`${lost} dropped`);
  if (marked) words.push(`${marked} marked`);
  context.fillText(words.join(" · "), 2, height - 5);
}
