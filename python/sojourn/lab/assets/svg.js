// A canvas that keeps what is drawn as SVG: of a context, what the pictures use.

const number = (value) => Number(value.toFixed(2));
const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const ANCHORS = { left: "start", center: "middle", right: "end" };

class Context {
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  globalAlpha = 1;
  lineJoin = "miter";
  font = "12px sans-serif";
  textAlign = "left";
  textBaseline = "alphabetic";
  elements = [];
  #path = "";
  #dash = [];
  #rectangle = undefined;
  #open = 0;
  static #clips = 0;

  setTransform() {}
  clearRect() {}
  save() {}

  restore() {
    this.elements.push("</g>".repeat(this.#open));
    this.#open = 0;
  }

  setLineDash(dash) {
    this.#dash = dash;
  }

  beginPath() {
    this.#path = "";
  }

  moveTo(x, y) {
    this.#to("M", x, y);
  }

  lineTo(x, y) {
    this.#to(this.#path ? "L" : "M", x, y);
  }

  arc(x, y, radius) {
    const r = number(radius);
    this.#to("M", x - radius, y);
    this.#path += `a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
  }

  rect(...rectangle) {
    this.#rectangle = rectangle;
  }

  clip() {
    const id = `clip${++Context.#clips}`;
    const [x, y, width, height] = this.#rectangle.map(number);
    this.elements.push(
      `<clipPath id="${id}"><rect x="${x}" y="${y}" width="${width}" height="${height}"/></clipPath>`,
      `<g clip-path="url(#${id})">`,
    );
    this.#open += 1;
  }

  stroke() {
    this.elements.push(`<path d="${this.#path}" ${this.#pen()}/>`);
  }

  fill() {
    this.elements.push(`<path d="${this.#path}" ${this.#brush()}/>`);
  }

  fillRect(...rectangle) {
    this.#box(rectangle, this.#brush());
  }

  strokeRect(...rectangle) {
    this.#box(rectangle, this.#pen());
  }

  fillText(text, x, y) {
    const middle = this.textBaseline === "middle" ? ' dominant-baseline="middle"' : "";
    const place = `x="${number(x)}" y="${number(y)}" text-anchor="${ANCHORS[this.textAlign]}"`;
    this.elements.push(
      `<text ${place}${middle} style="font: ${this.font}" ${this.#brush()}>${plain(text)}</text>`,
    );
  }

  #to(letter, x, y) {
    // What is missing leaves a gap.
    if (Number.isFinite(x) && Number.isFinite(y))
      this.#path += `${letter}${number(x)} ${number(y)}`;
  }

  #box([x, y, width, height], look) {
    const [a, b, c, d] = [x, y, width, height].map(number);
    this.elements.push(`<rect x="${a}" y="${b}" width="${c}" height="${d}" ${look}/>`);
  }

  #pen() {
    const dash = this.#dash.length ? ` stroke-dasharray="${this.#dash.join(" ")}"` : "";
    const line = `stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"`;
    const join = `stroke-linejoin="${this.lineJoin}" stroke-opacity="${number(this.globalAlpha)}"`;
    return `fill="none" ${line} ${join}${dash}`;
  }

  #brush() {
    return `fill="${this.fillStyle}" fill-opacity="${number(this.globalAlpha)}"`;
  }
}

/** In the place of a canvas of the page, as large as that. */
export class SvgCanvas {
  #size;
  #context = new Context();

  constructor(canvas) {
    const { width, height } = canvas.getBoundingClientRect();
    this.#size = { width, height };
    this.title = canvas.getAttribute("aria-label").split(". ")[0];
  }

  getBoundingClientRect() {
    return this.#size;
  }

  getContext() {
    return this.#context;
  }

  get height() {
    return this.#size.height;
  }

  // As large as it was made.
  set height(_) {}
  set width(_) {}

  get width() {
    return this.#size.width;
  }

  get content() {
    return this.#context.elements.join("\n");
  }
}

/** Pictures under one another as one file, below a legend of texts and colours. */
export function svg(canvases, legend, ink) {
  const width = Math.max(...canvases.map((each) => each.width));
  const heads = legend.map(
    ({ text, colour }) => `<tspan fill="${colour}" dx="8">${plain(text)} </tspan>`,
  );
  let at = 30;
  const parts = canvases.map((each) => {
    const title = `<text x="8" y="20" style="font: bold 14px Helvetica, Arial, sans-serif" fill="${ink.text}">${plain(each.title)}</text>`;
    const part = `<g transform="translate(0 ${number(at)})">${title}<g transform="translate(0 30)">\n${each.content}\n</g></g>`;
    at += each.height + 34;
    return part;
  });
  const size = `width="${number(width)}" height="${number(at)}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${number(width)} ${number(at)}">
<rect width="100%" height="100%" fill="${ink.paper}"/>
<text y="20" style="font: bold 14px Helvetica, Arial, sans-serif">${heads.join("")}</text>
${parts.join("\n")}
</svg>
`;
}
