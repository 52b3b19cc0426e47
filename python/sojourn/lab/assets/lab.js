"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const SIDES = ["A", "B"];
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 56rem)");  // as in lab.css
  const query = new URLSearchParams(location.search);
  const token = query.get("token");
  const address = (path) => (token ? `${path}?token=${encodeURIComponent(token)}` : path);

  let presets = [];
  let themes = {};
  let readonly = false;
  let setting = null;      // {toml, common, A, B}
  let preset = null;       // its name, while nothing of its scenario was replaced
  let described = null;    // controls, as the server describes them
  let answer = null;       // the last one
  let trail = [];          // earlier points of the plane
  let asked = 0;
  let socket = null;
  const views = new Map();

  // -- the address bar holds the whole setting

  const pack = (value) => {
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  };
  const unpack = (text) => {
    const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(plain, (c) => c.charCodeAt(0))));
  };
  const remember = () => {
    const known = presets.find((each) => each.name === preset);
    const short = known && known.setting.toml === setting.toml;
    const state = short ? { p: preset, c: setting.common, A: setting.A, B: setting.B } : setting;
    history.replaceState(null, "", `${location.pathname}${location.search}#${pack(state)}`);
  };
  const recall = () => {
    if (location.hash.length < 2) return null;
    try {
      const state = unpack(location.hash.slice(1));
      if (typeof state.p === "string") {
        const known = presets.find((each) => each.name === state.p);
        if (!known) return null;
        preset = state.p;
        return { toml: known.setting.toml, common: state.c ?? {}, A: state.A ?? {}, B: state.B ?? {} };
      }
      preset = null;
      return typeof state.toml === "string" ? state : null;
    } catch {
      complain("The address does not hold a setting; this is the first experiment.");
      return null;
    }
  };

  // -- values with units

  const UNITS = {
    rate: [["gbit", 1e9], ["mbit", 1e6], ["kbit", 1e3], ["bit", 1]],
    time: [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]],
  };
  const number = (value, unit) => {
    if (typeof value === "number") return value;
    const found = /^\s*([0-9.eE+-]+)\s*([a-z]*)\s*$/.exec(value);
    if (!found) return NaN;
    const name = found[2] === "min" ? 60e9 : found[2] === "h" ? 3600e9 : null;
    const factor = name ?? (UNITS[unit] ?? []).find(([each]) => each === found[2])?.[1] ?? 1;
    return Number(found[1]) * factor;
  };
  const rounded = (value, whole) => {
    if (value === 0) return 0;
    const digits = Number(value.toPrecision(value >= 1e4 ? 4 : 3));
    return whole ? Math.max(1, Math.round(digits)) : digits;
  };
  const written = (value, unit, whole) => {
    if (!UNITS[unit]) return rounded(value, whole);
    if (value <= 0) return unit === "time" ? "0ms" : "1kbit";
    const [name, factor] = UNITS[unit].find(([, each]) => value >= each) ?? UNITS[unit].at(-1);
    return `${Number((value / factor).toPrecision(3))}${name}`;
  };

  // A slider's place is 0 to 1000, logarithmic unless its least is 0.
  const place = (value, control) => {
    const { least, most } = control;
    const share = least > 0 ? Math.log(value / least) / Math.log(most / least) : Math.cbrt(value / most);
    return Math.round(1000 * Math.min(1, Math.max(0, share)));
  };
  const valueAt = (position, control) => {
    const { least, most } = control;
    const share = position / 1000;
    return least > 0 ? least * (most / least) ** share : most * share ** 3;
  };

  // -- controls

  const changesOf = (where) => (where === "common" ? setting.common : setting[where]);

  const change = (where, control, value, settle) => {
    const changes = changesOf(where);
    const [path, end] = control.path.split("#");
    if (end) {
      const both = described.common.filter((each) => each.path.startsWith(`${path}#`));
      for (const each of both) if (each.path === control.path) each.value = value;
      let [low, high] = both.map((each) => each.value);
      if (number(low, "time") > number(high, "time")) low = high = value;
      changes[path] = `${low}..${high}`;
    } else if (path.startsWith("bottleneck.qdisc.")) {
      const field = path.slice("bottleneck.qdisc.".length);
      const kind = described[where].find((each) => each.path === "bottleneck.qdisc").value;
      const old = changes["bottleneck.qdisc"];
      changes["bottleneck.qdisc"] = { ...(typeof old === "object" && old.kind === kind ? old : { kind }), [field]: value };
    } else if (path === "bottleneck.qdisc") {
      changes[path] = { kind: value };
    } else {
      changes[path] = value;
    }
    control.value = value;
    remember();
    if (settle) describe().then(run);
    else run();
  };

  const make = (where, control) => {
    const row = document.createElement("div");
    row.className = "control";
    const id = `${where}-${control.path}`.replace(/[^\w-]/g, "-");
    const label = document.createElement("label");
    label.htmlFor = id;
    label.textContent = control.label;
    if (control.about) label.title = control.about;
    row.append(label);
    if (control.kind === "slider") {
      const text = document.createElement("input");
      text.type = "text";
      text.id = id;
      text.dataset.path = control.path;
      text.value = control.value;
      text.inputMode = control.unit ? "text" : "decimal";
      const slider = document.createElement("input");
      slider.type = "range";
      slider.min = 0;
      slider.max = 1000;
      slider.dataset.path = control.path;
      slider.setAttribute("aria-label", control.label);
      const show = (value) => {
        slider.value = place(number(value, control.unit), control);
        slider.setAttribute("aria-valuetext", String(value));
      };
      show(control.value);
      slider.addEventListener("input", () => {
        const value = written(valueAt(slider.valueAsNumber, control), control.unit, control.whole);
        text.value = value;
        slider.setAttribute("aria-valuetext", String(value));
        change(where, control, value, false);
      });
      text.addEventListener("change", () => {
        const value = control.unit ? text.value.trim() : Number(text.value);
        if (!control.unit && !Number.isFinite(value)) {
          complain(`${control.label}: a number, please`);
          return invalid(text);
        }
        show(value);
        change(where, control, value, false);
      });
      row.append(text, slider);
    } else if (control.kind === "choice") {
      const select = document.createElement("select");
      select.id = id;
      select.dataset.path = control.path;
      for (const each of control.choices) select.add(new Option(each, each, false, each === control.value));
      select.addEventListener("change", () => change(where, control, select.value, true));
      row.append(select);
    } else {
      const box = document.createElement("input");
      box.type = "checkbox";
      box.id = id;
      box.dataset.path = control.path;
      box.checked = control.value;
      box.addEventListener("change", () => change(where, control, box.checked, false));
      row.append(box);
    }
    return row;
  };

  const show = () => {
    for (const where of ["common", ...SIDES]) {
      const set = $(where === "common" ? "common" : `side-${where}`);
      const focused = set.contains(document.activeElement) ? document.activeElement.dataset.path : null;
      for (const old of [...set.querySelectorAll(".control")]) old.remove();
      for (const control of described[where]) set.append(make(where, control));
      if (focused) [...set.querySelectorAll("[data-path]")].find((e) => e.dataset.path === focused)?.focus();
    }
  };

  const post = async (path, body) => {
    const response = await fetch(address(path), { method: "POST", body: JSON.stringify(body) });
    if (!response.ok) {
      const found = await response.json().catch(() => ({ error: `the lab answers with ${response.status}` }));
      throw new Error(found.error);
    }
    return response;
  };

  const describe = async () => {
    try {
      described = await (await post("api/controls", setting)).json();
      complain("");
      show();
    } catch (error) {
      complain(error.message);
    }
  };

  const complain = (text) => {
    $("error").textContent = text;
    $("error").hidden = !text;
    if (text) status("");
    // A refusal names the field; its controls are those with that path.
    for (const each of document.querySelectorAll('#controls [aria-invalid="true"]')) {
      each.removeAttribute("aria-invalid");
      each.removeAttribute("aria-describedby");
    }
    for (const each of document.querySelectorAll('#controls :is(input[type="text"], select)')) {
      if (text && named(text).includes(each.dataset.path.split("#")[0])) invalid(each);
    }
  };
  // The paths in a text, each whole.
  const named = (text) => text.match(/[a-z_]+(?:\.[\w-]+)+/gi) ?? [];
  const invalid = (input) => {
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", "error");
  };
  const status = (text) => { $("status").textContent = text; };

  // -- runs

  let soon;
  const run = () => {
    clearTimeout(soon);
    soon = setTimeout(ask, 25);
  };
  const ask = () => {
    if (!socket || socket.readyState !== WebSocket.OPEN) return;
    asked += 1;
    if (answer?.points && answer.stage === "full") {
      trail.push(...answer.points.map((point) => ({ ...point, id: answer.id })));
      trail = trail.slice(-60);
    }
    $("results").dataset.state = "running";
    socket.send(JSON.stringify({ id: asked, ...setting }));
    status("running …");
  };

  const connect = () => {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const path = location.pathname.replace(/[^/]*$/, "");
    socket = new WebSocket(`${scheme}://${location.host}${path}${address("api/runs")}`);
    socket.addEventListener("open", () => { if (setting) ask(); });
    socket.addEventListener("message", (event) => receive(JSON.parse(event.data)));
    socket.addEventListener("close", () => {
      status("The lab has ended, or the connection is lost; trying again …");
      setTimeout(connect, 2000);
    });
  };

  const receive = (message) => {
    if (message.id !== asked) return;
    if (message.error) {
      $("results").dataset.state = "refused";
      $("progress").style.width = "0";
      return complain(message.error);
    }
    if (message.progress !== undefined) {
      $("progress").style.width = `${Math.round(100 * message.progress)}%`;
      return;
    }
    complain("");
    if (message.stage === "theory") {
      if (message.overlaid?.length && answer) {
        const over = new Map(message.overlaid.map((each) => [each.slug, each]));
        answer.figures = answer.figures.map((each) => over.get(each.slug) ?? each);
        pictures();
      }
      $("results").dataset.state = "done";
      return theory(message.theory);
    }
    answer = message;
    $("results").dataset.state = message.stage;
    $("progress").style.width = message.stage === "full" ? "100%" : "0";
    status(message.stage === "full" ? "" : "the beginning; the whole is on its way …");
    for (const side of SIDES) {
      document.querySelector(`#side-${side} .what`).textContent = message.names[side] ?? "as A";
    }
    table(message.table);
    pictures();
    plane();
    notes(message.stage === "full" ? message.diagnoses : []);
  };

  // Why what is shown may not mean what it seems to.
  const notes = (list) => {
    $("diagnoses").replaceChildren(...list.map((each) => {
      const item = document.createElement("li");
      item.append(Object.assign(document.createElement("strong"), { textContent: `${each.side}: ${each.name}` }), ` ${each.text}`);
      return item;
    }));
  };

  // A measure a line and a side a column: two sides fit on every screen.
  const table = ({ columns, rows }) => {
    const element = (name, fields, ...children) => {
      const made = Object.assign(document.createElement(name), fields);
      made.append(...children);
      return made;
    };
    const head = element("tr", {}, element("td", {}));
    rows.forEach((row, index) => {
      const key = element("span", { className: `key ${SIDES[index].toLowerCase()}` }, SIDES[index]);
      head.append(element("th", { scope: "col" }, key, ` ${row.name}`));
    });
    const lines = columns.map((column, place) => {
      // A group of columns may have their unit: "Delay, ms".
      const [what, unit = column.unit] = (column.group ?? "").split(", ");
      const words = [what, column.heading].filter(Boolean).join(" ");
      const name = element("th", { className: "name", scope: "row", title: column.title }, words);
      if (unit) name.append(" ", element("small", {}, unit));
      const cells = rows.map((row) => element("td", {}, row.cells[place]));
      return element("tr", {}, name, ...cells);
    });
    $("table").replaceChildren(element("thead", {}, head), element("tbody", {}, ...lines));
  };

  // -- figures: specified for paper; sides have the same two colours everywhere

  const sideColour = (side) => getComputedStyle(document.documentElement).getPropertyValue(`--${side.toLowerCase()}`).trim();
  const recoloured = () => {
    const found = {};
    for (const side of SIDES) {
      found[`side-${side}`] = sideColour(side);
      for (const colour of answer.colours?.[side] ?? []) found[colour] = sideColour(side);
    }
    return found;
  };
  const onScreen = (value, colours, key) => {
    if (key === "legend") return null;
    if (key === "data") return value;
    if (typeof value === "string") return colours[value] ?? value;
    if (Array.isArray(value)) return value.map((inner) => onScreen(inner, colours));
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([k, inner]) => [k, onScreen(inner, colours, k)]));
    return value;
  };
  const fitted = (spec, width, beside) => {
    const out = { ...spec };
    if (out.spec) out.spec = { ...out.spec, width: Math.max(120, width - beside) };
    else Object.assign(out, { width, autosize: { type: "fit-x", contains: "padding" } });
    delete out.title;
    return out;
  };

  const turns = new Map();
  // The complex plane has the same scale along both axes.
  const squared = (spec, width) => {
    const side = Math.min(340, Math.max(120, width - 70));
    return { ...spec, width: side, height: side, title: undefined };
  };

  const draw = (holder, spec, colours, square) => {
    const turn = (turns.get(holder) ?? Promise.resolve()).then(async () => {
      const width = holder.clientWidth;
      if (!width) return;
      // The holder describes the figure: Vega's names for lines and areas say nothing.
      const stage = document.createElement("div");
      stage.setAttribute("aria-hidden", "true");
      try {
        const embed = (beside) => vegaEmbed(stage, square ? squared(onScreen(spec, colours), width) : fitted(onScreen(spec, colours), width, beside), {
          mode: "vega-lite", renderer: "svg", actions: false,
          config: dark.matches ? themes.dark : themes.light,
          tooltip: { theme: dark.matches ? "dark" : "light" },
        });
        const old = views.get(holder);
        let result = await embed(70);
        holder.replaceChildren(stage);
        const excess = (stage.querySelector("svg")?.getBoundingClientRect().width ?? 0) - width;
        if (spec.spec && excess > 0) {
          result.finalize();
          result = await embed(70 + Math.ceil(excess));
        }
        old?.finalize();
        views.set(holder, result);
      } catch (error) {
        holder.textContent = `This figure could not be drawn: ${error.message}`;
        console.error(error);
      }
    });
    turns.set(holder, turn);
    return turn;
  };

  const frame = (parent, slug, title, words) => {
    let holder = parent.querySelector(`[data-slug="${slug}"]`);
    if (!holder) {
      const figure = document.createElement("figure");
      holder = Object.assign(document.createElement("div"), { className: "plot" });
      holder.dataset.slug = slug;
      holder.setAttribute("role", "img");
      figure.append(Object.assign(document.createElement("figcaption"), { textContent: title }), holder);
      parent.append(figure);
    }
    holder.parentElement.firstChild.textContent = title;
    holder.setAttribute("aria-label", words);
    return holder;
  };

  const figures = (list, parent) => {
    const wanted = new Set(list.map((each) => each.slug));
    for (const holder of [...parent.querySelectorAll("[data-slug]")]) {
      if (!wanted.has(holder.dataset.slug)) holder.parentElement.remove();
    }
    const colours = recoloured();
    // What was not there before does not come last: the order is the list's.
    for (const [place, each] of list.entries()) {
      const figure = frame(parent, each.slug, each.title, each.words).parentElement;
      if (parent.children[place] !== figure) parent.insertBefore(figure, parent.children[place] ?? null);
    }
    for (const each of list) draw(frame(parent, each.slug, each.title, each.words), each.spec, colours, each.square);
  };

  const pictures = () => {
    const watched = narrow.matches ? 1 : 0;
    const low = (each) => ({ ...each, spec: lowered(each.spec) });
    figures(answer.figures.slice(0, watched).map(low), $("watch"));
    figures(answer.figures.slice(watched), $("figures"));
  };
  // Half of a phone's screen is for the controls.
  const lowered = (spec) => (spec.spec ? { ...spec, spec: { ...spec.spec, height: 90 } } : { ...spec, height: 150 });

  const plane = () => {
    const now = answer.points.map((point) => ({ ...point, age: "now" }));
    const before = trail.map((point) => ({ ...point, age: "before" }));
    const words = now.map((p) => `${p.side}: ${p.delay_ms.toPrecision(3)} ms, ${p.utilisation.toPrecision(4)} %`).join("; ");
    $("plane").setAttribute("aria-label", `Utilisation against delay. ${words}`);
    const colour = { field: "side", type: "nominal", scale: { domain: SIDES, range: SIDES.map(sideColour) }, legend: null };
    draw($("plane"), {
      height: 240,
      encoding: {
        x: { field: "delay_ms", type: "quantitative", title: "Mean time in the queue (ms)", scale: { type: "symlog", zero: true }, axis: { tickCount: 5, labelOverlap: true } },
        y: { field: "utilisation", type: "quantitative", title: "Utilisation (%)", scale: { zero: false, padding: 12 }, axis: { tickCount: 5 } },
        color: colour,
        tooltip: [{ field: "side" }, { field: "delay_ms", format: ".3g" }, { field: "utilisation", format: ".4g" }],
      },
      layer: [
        { data: { values: before }, mark: { type: "point", size: 30, opacity: 0.45 }, encoding: { shape: { field: "side", type: "nominal", scale: { domain: SIDES, range: ["circle", "square"] }, legend: null } } },
        { data: { values: now }, mark: { type: "point", filled: true, size: 130, opacity: 1 }, encoding: { shape: { field: "side", type: "nominal", scale: { domain: SIDES, range: ["circle", "square"] }, legend: null } } },
        { data: { values: now }, mark: { type: "text", dy: -14, fontWeight: 700 }, encoding: { text: { field: "side" } } },
      ],
    }, {});
  };

  const theory = (found) => {
    const parent = $("theory");
    figures(found?.figures ?? [], parent);
    let note = $("theory-note");
    if (!note) {
      note = Object.assign(document.createElement("p"), { id: "theory-note", className: "note" });
      $("results").querySelector(".figures").append(note);
    }
    note.textContent = found?.note ?? "";
  };

  // -- saving

  const save = (name, blob) => {
    const link = document.createElement("a");
    link.download = name;
    link.href = URL.createObjectURL(blob);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const csv = () => {
    const { columns, rows } = answer.table;
    const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
    const head = ["", ...columns.map((c) => [c.group, c.heading, c.unit].filter(Boolean).join(" "))];
    const lines = [head, ...rows.map((row) => [row.name, ...row.cells])];
    return lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n";
  };

  const start = async () => {
    const found = await (await fetch(address("api/presets"))).json();
    ({ presets, themes, readonly } = found);
    const choice = $("preset");
    if (found.first) choice.add(new Option("the scenario given", ""));
    for (const each of presets) choice.add(new Option(each.title, each.name));
    const open = (name) => {
      const known = presets.find((each) => each.name === name);
      preset = known ? name : null;
      setting = structuredClone(known ? known.setting : found.first ?? presets[0].setting);
      trail = [];
      answer = null;
    };
    const about = () => {
      const known = presets.find((each) => each.name === preset);
      $("about").textContent = known?.about ?? "";
      choice.value = preset ?? "";
      document.title = known ? `${known.title} – Sojourn lab` : "Sojourn lab";
    };
    const recalled = recall();
    if (recalled) setting = recalled;
    else open(found.first ? "" : presets[0].name);
    about();
    const again = async () => {
      about();
      await describe();
      remember();
      run();
    };
    choice.addEventListener("change", () => { open(choice.value); again(); });
    $("reset").addEventListener("click", () => { open(preset ?? ""); again(); });
    $("swap").addEventListener("click", () => { [setting.A, setting.B] = [setting.B, setting.A]; again(); });
    $("copy").addEventListener("click", () => { setting.A = structuredClone(setting.B); again(); });
    $("link").addEventListener("click", async () => {
      remember();
      const link = new URL(location.href);
      link.searchParams.delete("token");
      await navigator.clipboard?.writeText(link.href);
      status("The link is copied: it holds the whole setting.");
    });
    for (const button of document.querySelectorAll("[data-toml]")) {
      button.addEventListener("click", async () => {
        try {
          const text = await (await post("api/scenario", { ...setting, side: button.dataset.toml })).text();
          save(`lab-${button.dataset.toml}.toml`, new Blob([text], { type: "application/toml" }));
        } catch (error) {
          complain(error.message);
        }
      });
    }
    $("csv").addEventListener("click", () => answer && save("lab.csv", new Blob([csv()], { type: "text/csv" })));
    $("pictures").addEventListener("click", () => {
      for (const [holder, result] of views) {
        result.view.toSVG().then((text) => save(`${holder.dataset.slug ?? holder.id}.svg`, new Blob([text], { type: "image/svg+xml" })));
      }
    });
    $("controls").addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", () => {
      const other = recall();
      if (other) { setting = other; trail = []; answer = null; again(); }
    });
    let resized;
    const redraw = () => { if (answer) { pictures(); plane(); } };
    addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(redraw, 150); });
    dark.addEventListener("change", redraw);
    if (readonly) $("results").dataset.readonly = "";
    await describe();
    remember();
    connect();
  };
  start().catch((error) => complain(error.message));
})();
