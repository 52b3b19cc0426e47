// Tables of the class "sortable": a click on a heading sorts by its column, another turns it round.
const number = (cell) => parseFloat(cell.replace(/−/g, "-").replace(/[^\d.eE+-]/g, ""));

function compare(a, b) {
  const both = [number(a), number(b)];
  return both.some(Number.isNaN) ? a.localeCompare(b) : both[0] - both[1];
}

function sortBy(table, column, heading) {
  const up = heading.getAttribute("aria-sort") !== "ascending";
  for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  const text = (row) => row.cells[column].textContent.trim();
  const rows = [...table.tBodies[0].rows].sort((a, b) => compare(text(a), text(b)));
  table.tBodies[0].append(...(up ? rows : rows.reverse()));
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(table, column, heading));
    heading.append(button);
  });
}
