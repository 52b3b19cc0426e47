// Charts on pages that forbid code made from text: expressions are interpreted, and tables with
// commas, which Vega reads by a function that it makes from text, are read here.
{
  const table = (text) => {
    const rows = [];
    let row = [];
    const cells = /("(?:[^"]|"")*"|[^,\n]*)(,|\n|$)/g;
    for (const [, cell, end] of text.replace(/\n$/, "").matchAll(cells)) {
      row.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
      if (end === ",") continue;
      rows.push(row);
      row = [];
      if (!end) break;
    }
    const [names, ...body] = rows;
    return body.map((values) => Object.fromEntries(names.map((name, i) => [name, values[i]])));
  };
  const values = (data) => (typeof data === "string" ? table(data) : data);
  const each = (object, change) =>
    Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
  const read = (value, key) => {
    if (key === "datasets") return each(value, values);
    if (key === "values") return values(value);
    if (key === "format" && value?.type === "csv") return { ...value, type: "json" };
    if (Array.isArray(value)) return value.map((inner) => read(inner));
    return value && typeof value === "object" ? each(value, read) : value;
  };
  window.vegaEmbed = (place, spec, options) => vegaEmbed(place, read(spec), { ...options, ast: true });
}
