// What can be moved, from its description: sliders, choices and switches.

import { QDISC } from "./changes.js";
import { ofDiscipline } from "./described.js";
import { legible, number, place, valueAt, widen, written } from "./values.js";

/** A choice in words. */
const spoken = (value) => ({ true: "on", false: "off" })[value] ?? value;

export class Controls {
  /**
   * @param {HTMLElement} holder
   * @param {object[]} described
   * @param {Record<string, object[]>} disciplines the controls of each kind
   * @param {(values: Record<string, unknown>) => void} changed gets values by dotted path
   */
  constructor(holder, described, disciplines, changed) {
    Object.assign(this, { holder, described, disciplines, changed });
  }

  /** The discipline's kind, if there is one. */
  get kind() {
    return this.described.find(({ path }) => path === QDISC)?.value;
  }

  /** Marks the control of a path, and says why its value is refused. */
  refuse(path, why) {
    for (const row of this.#rows(path)) {
      const words = Object.assign(document.createElement("small"), { textContent: why });
      row.querySelectorAll("input, select").forEach((each) => {
        each.setAttribute("aria-invalid", "true");
      });
      row.append(words);
    }
  }

  #rows(path) {
    const of = ({ dataset }) => dataset.path.split("#")[0] === path;
    return [...this.holder.querySelectorAll(".control")].filter(of);
  }

  /** What was refused is changed now. */
  #forgive(path) {
    for (const row of this.#rows(path.split("#")[0])) {
      row.querySelectorAll("small").forEach((each) => each.remove());
      row.querySelectorAll("[aria-invalid]").forEach((each) => {
        each.removeAttribute("aria-invalid");
      });
    }
  }

  show() {
    const legend = this.holder.querySelector("legend");
    const held = this.holder.contains(document.activeElement) && document.activeElement.id;
    this.holder.replaceChildren(legend, ...this.described.map((each) => this.#row(each)));
    this.holder.hidden = this.described.length === 0;
    if (held) document.getElementById(held)?.focus();
  }

  #row(control) {
    const row = document.createElement("div");
    row.className = "control";
    row.dataset.path = control.path;
    const label = document.createElement("label");
    const id = `${this.holder.id}-${control.path}`.replace(/[^\w-]/g, "-");
    label.htmlFor = id;
    label.textContent = control.label;
    label.title = control.about;
    row.append(label, ...this[`_${control.kind}`](control, id));
    return row;
  }

  _choice(control, id) {
    const select = Object.assign(document.createElement("select"), { id });
    for (const value of control.choices) select.append(new Option(spoken(value)));
    select.selectedIndex = control.choices.indexOf(control.value);
    select.addEventListener("change", () => {
      const value = control.choices[select.selectedIndex];
      if (control.path === QDISC) {
        this.described = ofDiscipline(this.disciplines, value);
        this.show();
        this.changed({ [QDISC]: { kind: value } });
      } else this.#set(control, value);
    });
    return [select];
  }

  _switch(control, id) {
    const box = Object.assign(document.createElement("input"), { type: "checkbox", id });
    box.checked = control.value;
    box.addEventListener("change", () => this.#set(control, box.checked));
    return [box];
  }

  _slider(control, id) {
    const text = Object.assign(document.createElement("input"), { type: "text", id });
    const slider = Object.assign(document.createElement("input"), {
      type: "range",
      id: `${id}-slider`,
      min: 0,
      max: 1000,
    });
    slider.setAttribute("aria-label", control.label);
    const say = (value) => {
      text.value = legible(value);
      slider.setAttribute("aria-valuetext", text.value);
    };
    const at = () => place(number(control.value, control.unit), control);
    const show = () => {
      say(control.value);
      slider.value = at();
    };
    show();
    // One step of the slider may be less than one of a count: then that is moved by one.
    const chosen = () => {
      const value = written(valueAt(Number(slider.value), control), control);
      const way = Math.sign(Number(slider.value) - at());
      if (!control.whole || control.unit || value !== control.value) return value;
      return Math.min(control.most, Math.max(control.least, value + way));
    };
    slider.addEventListener("input", () => say(chosen()));
    slider.addEventListener("change", () => {
      this.#set(control, chosen());
      show();
    });
    text.addEventListener("change", () => {
      const wrong = Number.isNaN(number(text.value, control.unit));
      this.#forgive(control.path);
      if (wrong) return this.refuse(control.path.split("#")[0], "This is no number with its unit.");
      const bare = text.value.trim();
      this.#set(control, control.unit || Number.isNaN(Number(bare)) ? bare : Number(bare));
      show();
    });
    return [text, slider];
  }

  #set(control, value) {
    control.value = value;
    widen(control);
    this.#forgive(control.path);
    const [path, end] = control.path.split("#");
    if (end) {
      // The two ends of a range are one value.
      const ends = this.described.filter((each) => each.path.startsWith(`${path}#`));
      let [low, high] = ends.map((each) => each.value);
      if (number(low, "time") > number(high, "time")) low = high = value;
      this.changed({ [path]: `${low}..${high}` });
    } else this.changed({ [path]: value });
  }
}
