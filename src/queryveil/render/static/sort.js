"use strict";
for (const table of document.querySelectorAll("table.sorts")) {
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, i) => {
    const cell = row.cells[i], text = cell.dataset.value ?? cell.textContent.trim();
    return text === "" ? null : isNaN(text) ? text : Number(text);
  };
  const order = (a, b) => {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
  };
  const sort = (i) => {
    const up = heads[i].getAttribute("aria-sort") !== "ascending", body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [key(row, i), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return up ? order(a, b) : order(b, a);
    });
    body.append(...rows.map(([, row]) => row));
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[i].setAttribute("aria-sort", up ? "ascending" : "descending");
  };
  heads.forEach((head, i) => {
    if (!head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(i));
    head.append(button);
  });
}
const folded = () => document.querySelectorAll("details:not([open])");
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...folded()];
  opened.forEach((details) => { details.open = true; });
});
addEventListener("afterprint", () => opened.forEach((details) => { details.open = false; }));
