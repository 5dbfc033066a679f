"use strict";
(() => {
  // Paper cannot be opened: what is folded is printed, and folded again afterwards.
  const folded = Array.from(document.querySelectorAll("details:not([open])"));
  window.addEventListener("beforeprint", () => folded.forEach((part) => (part.open = true)));
  window.addEventListener("afterprint", () => folded.forEach((part) => (part.open = false)));
  const table = document.getElementById("configurations");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);

  const value = (row, i) => {
    const given = row.cells[i].dataset.v;
    if (given === undefined) return row.cells[i].textContent.toLowerCase();
    return given === "" ? null : Number(given);
  };
  const sort = (i) => {
    const up = heads[i].getAttribute("aria-sort") !== "ascending";
    const keyed = rows.map((row) => [value(row, i), row]);
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null); // what is missing goes last, either way
      const order = typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
      return up ? order : -order;
    });
    heads.forEach((head, j) => (j === i ? head.setAttribute("aria-sort", up ? "ascending" : "descending") : head.removeAttribute("aria-sort")));
    body.append(...keyed.map(([, row]) => row));
  };
  heads.forEach((head, i) => head.querySelector("button").addEventListener("click", () => sort(i)));
})();
