// What is saved: scenarios, the course as a table, the pictures.

import { COURSE } from "./engine.js";

const COLUMNS = ["time_s", ...COURSE];

export function save(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const href = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { download: name, href }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

/** What was seen of runs, as CSV. */
export function csv(runs) {
  const lines = [["side", ...COLUMNS].join(",")];
  for (const { name, columns } of runs) {
    columns.time_s.forEach((_, row) => {
      lines.push([name, ...COLUMNS.map((each) => columns[each][row])].join(","));
    });
  }
  return lines.join("\n") + "\n";
}

/**
 * Canvases with their titles, under one another, as PNG.
 *
 * @param {HTMLCanvasElement[]} canvases
 * @param {{text: string, colour: string}[]} legend what stands above them
 */
export function png(canvases, legend, ink) {
  const ratio = devicePixelRatio || 1;
  const sheet = Object.assign(document.createElement("canvas"), {
    width: Math.max(...canvases.map(({ width }) => width)),
    height: canvases.reduce((sum, { height }) => sum + height + 40 * ratio, 30 * ratio),
  });
  const context = sheet.getContext("2d");
  context.fillStyle = ink.paper;
  context.fillRect(0, 0, sheet.width, sheet.height);
  context.font = `bold ${14 * ratio}px Helvetica, Arial, sans-serif`;
  let left = 8 * ratio;
  for (const { text, colour } of legend) {
    context.fillStyle = colour;
    context.fillText(text, left, 22 * ratio);
    left += context.measureText(text).width + 24 * ratio;
  }
  context.fillStyle = ink.text;
  context.font = `${14 * ratio}px Helvetica, Arial, sans-serif`;
  let at = 30 * ratio;
  for (const each of canvases) {
    context.fillText(each.getAttribute("aria-label").split(". ")[0], 8 * ratio, at + 28 * ratio);
    context.drawImage(each, 0, at + 38 * ratio);
    at += each.height + 40 * ratio;
  }
  return new Promise((made) => sheet.toBlob(made));
}
