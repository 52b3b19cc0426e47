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

/** Canvases with their titles, under one another, as PNG. */
export function png(canvases, ink) {
  const ratio = devicePixelRatio || 1;
  const sheet = Object.assign(document.createElement("canvas"), {
    width: Math.max(...canvases.map(({ width }) => width)),
    height: canvases.reduce((sum, { height }) => sum + height + 40 * ratio, 0),
  });
  const context = sheet.getContext("2d");
  context.fillStyle = ink.paper;
  context.fillRect(0, 0, sheet.width, sheet.height);
  context.fillStyle = ink.text;
  context.font = `${14 * ratio}px Helvetica, Arial, sans-serif`;
  let at = 0;
  for (const each of canvases) {
    context.fillText(each.getAttribute("aria-label").split(". ")[0], 8 * ratio, at + 28 * ratio);
    context.drawImage(each, 0, at + 38 * ratio);
    at += each.height + 40 * ratio;
  }
  return new Promise((made) => sheet.toBlob(made));
}
