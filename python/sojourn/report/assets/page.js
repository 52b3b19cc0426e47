"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const plots = [...document.querySelectorAll("[data-figure]")];
  const views = new Map();
  const hidden = new Set();

  // Figures are specified for paper. On a screen the legend is the page's own, and on a dark one
  // each colour has its counterpart. Pages without a legend of their own keep the figures' ones.
  const onScreen = (value, key) => {
    if (key === "legend" && !data.legends) return null;
    if (key === "data") return value;
    if (typeof value === "string") return dark.matches ? data.darker[value] ?? value : value;
    if (Array.isArray(value)) return value.map((inner) => onScreen(inner));
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([k, inner]) => [k, onScreen(inner, k)]));
    return value;
  };

  // Rows of panels cannot be told their outer width: `beside` is what stands beside the panels.
  const fitted = (spec, width, beside) => {
    const out = { ...spec };
    // Panels side by side have widths that go together.
    if (out.hconcat || out.vconcat || out.concat || out.columns || out.facet?.column) return out;
    if (out.spec) out.spec = { ...out.spec, width: Math.max(120, width - beside) };
    else Object.assign(out, { width, autosize: { type: "fit-x", contains: "padding" } });
    delete out.title; // the caption says it
    return out;
  };

  const draw = async (plot) => {
    const spec = data.figures[plot.dataset.figure];
    const width = plot.clientWidth;
    if (!width) return;
    views.get(plot)?.finalize();
    try {
      // The plot keeps its own description: Vega's names for lines and areas say nothing.
      const place = document.createElement("div");
      place.setAttribute("aria-hidden", "true");
      plot.replaceChildren(place);
      const theme = dark.matches ? data.themes.dark : data.themes.light;
      const embed = (beside) => vegaEmbed(place, fitted(onScreen(spec), width, beside), {
        mode: "vega-lite", renderer: "svg", actions: false,
        // A row's name is no wider than the row, and one beside it leaves half of the width.
        config: {
          ...theme,
          header: { ...theme.header, labelLimit: width - beside },
          axisY: { ...theme.axisY, labelLimit: Math.min(theme.axisY.labelLimit, width / 2) },
        },
        tooltip: { theme: dark.matches ? "dark" : "light" },
      });
      let result = await embed(64);
      const excess = place.querySelector("svg").getBoundingClientRect().width - width;
      if (spec.spec && excess > 0) {
        result.finalize();
        result = await embed(64 + Math.ceil(excess));
      }
      views.set(plot, result);
      plot.dataset.width = width;
      if (hidden.size) await result.view.signal("hidden", [...hidden]).runAsync();
      plot.classList.remove("failed");
    } catch (error) {
      plot.classList.add("failed");
      plot.textContent = `This figure could not be drawn: ${error.message}`;
      console.error(plot.dataset.figure, error);
    }
  };

  let turn = Promise.resolve();
  const drawAll = () => {
    document.documentElement.dataset.figures = "drawing";
    turn = turn.then(async () => {
      for (const plot of plots) {
        await draw(plot);
        await new Promise((done) => setTimeout(done));
      }
      document.documentElement.dataset.figures = "drawn";
    });
  };

  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (plots.some((plot) => plot.clientWidth && plot.clientWidth !== Number(plot.dataset.width))) drawAll();
    }, 150);
  });
  dark.addEventListener("change", drawAll);

  const boxes = [...document.querySelectorAll("input[data-series]")];
  document.addEventListener("change", (event) => {
    const name = event.target.dataset?.series;
    if (name === undefined) return;
    event.target.checked ? hidden.delete(name) : hidden.add(name);
    for (const box of boxes) if (box.dataset.series === name) box.checked = event.target.checked;
    for (const { view } of views.values()) view.signal("hidden", [...hidden]).runAsync();
  });

  // Saving: drawn afresh as in the folder of figures, but with the series that are shown, and
  // also when this page has left that folder behind.
  document.addEventListener("click", async (event) => {
    const link = event.target.closest?.(".save a");
    if (!link || !link.closest("figure") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const spec = data.figures[link.closest("figure").querySelector("[data-figure]").dataset.figure];
    const place = document.createElement("div");
    const { view, finalize } = await vegaEmbed(place, spec, {
      mode: "vega-lite", renderer: "svg", actions: false, config: data.themes.print,
    });
    if (hidden.size) await view.signal("hidden", [...hidden]).runAsync();
    const save = document.createElement("a");
    save.download = link.download;
    save.href = link.download.endsWith(".svg")
      ? URL.createObjectURL(new Blob([await view.toSVG()], { type: "image/svg+xml" }))
      : await view.toImageURL("png", 2);
    save.click();
    finalize();
  });

  // Sorting, inside each block of rows: largest first, then smallest, then as it was.
  for (const table of document.querySelectorAll("table.measures")) {
    const bodies = [...table.tBodies].map((body) => [body, [...body.rows]]);
    const heads = table.querySelectorAll("th.sortable");
    // Which cell of a row belongs to a heading: the headings stand in two rows.
    const place = new Map();
    const flat = [];
    const [top, low] = table.tHead.rows;
    let next = 0;
    for (const head of top.cells) {
      if (head.colSpan > 1 || head.classList.contains("group")) for (let i = 0; i < head.colSpan; i++) flat.push(low.cells[next++]);
      else flat.push(head);
    }
    flat.forEach((head, i) => place.set(head, i));
    for (const head of heads) {
      head.querySelector("button").addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const then = now === "descending" ? "ascending" : now === "ascending" ? null : "descending";
        for (const other of heads) other.removeAttribute("aria-sort");
        if (then) head.setAttribute("aria-sort", then);
        const value = (row) => {
          const said = row.cells[place.get(head)]?.dataset.value;
          return said === undefined ? NaN : Number(said);
        };
        for (const [body, rows] of bodies) {
          const title = rows.filter((row) => row.classList.contains("block"));
          const rest = rows.filter((row) => !row.classList.contains("block"));
          const sign = then === "ascending" ? 1 : -1;
          if (then) rest.sort((a, b) => {
            const [x, y] = [value(a), value(b)];
            if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);
            return sign * (x - y);
          });
          body.append(...title, ...rest);
        }
      });
    }
  }

  // What the page may do, the lab that it opens may do.
  const lab = document.getElementById("lab");
  for (const button of document.querySelectorAll("button.live")) {
    button.addEventListener("click", () => {
      const toml = button.closest("details").querySelector("code").textContent;
      const state = JSON.stringify({ t: toml, n: button.dataset.name });
      const bytes = Array.from(new TextEncoder().encode(state), (byte) => String.fromCharCode(byte));
      const hash = btoa(bytes.join("")).replaceAll("+", "-").replaceAll("/", "_");
      const page = new Blob([JSON.parse(lab.textContent)], { type: "text/html" });
      open(`${URL.createObjectURL(page)}#${hash}`);
    });
  }

  drawAll();
})();
