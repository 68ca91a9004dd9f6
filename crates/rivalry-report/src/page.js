"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const sort = (column) => {
    const head = heads[column], numeric = head.classList.contains("n");
    const before = head.getAttribute("aria-sort");
    const descending = before ? before === "ascending" : numeric;
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const text = (row) => row.cells[column].textContent.trim();
    const missing = (row) => text(row) === "" || text(row) === "\u2013";
    const order = (a, b) => numeric
      ? parseFloat(text(a)) - parseFloat(text(b))
      : text(a).localeCompare(text(b), "en", { numeric: true });
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => missing(a) - missing(b) || (missing(a) ? 0 : descending ? order(b, a) : order(a, b)));
    table.tBodies[0].append(...rows);
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(column));
    head.append(button);
  });
}
const hint = () => {
  for (const area of document.querySelectorAll(".scroll")) {
    area.parentElement.classList.toggle("wide", area.scrollWidth > area.clientWidth + 1);
  }
};
addEventListener("resize", hint);
hint();
