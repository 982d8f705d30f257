// @ts-check
/** A table of data: sorted by a column's head, shown a page at a time, saved as CSV. */
import { cell } from "../format.js";
import { html, useMemo, useState } from "../html.js";

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {string} [title]
 * @property {boolean} [number] aligned right
 * @property {(value: any, row: any) => any} [show]
 * @property {(row: any) => any} [order] what to sort by, where it is not the value
 */
const PAGE = 100;

/** @param {{caption: string, columns: Column[], rows: any[], keyOf?: (row: any) => string, selected?: string, choose?: (row: any) => void}} props */
export function DataTable({ caption, columns, rows, keyOf, selected, choose }) {
  const [order, setOrder] = useState(/** @type {{name: string, down: boolean} | null} */ (null));
  const [shown, setShown] = useState(PAGE);
  const sorted = useMemo(() => (order ? sortedBy(rows, columns, order) : rows), [rows, columns, order]);
  return html`<div class="table-frame" tabindex="0" role="region" aria-label=${caption}>
    <table class="data">
      <caption class="hidden-text">${caption}</caption>
      <thead><tr>${columns.map((column) => html`<th scope="col" key=${column.name} class=${column.number ? "number" : ""} aria-sort=${sortOf(order, column.name)}>
        <button type="button" onClick=${() => setOrder(order?.name === column.name ? { name: column.name, down: !order.down } : { name: column.name, down: !!column.number })}>
          ${column.title || column.name}${order?.name === column.name ? (order.down ? " ▾" : " ▴") : ""}</button></th>`)}</tr></thead>
      <tbody>${sorted.slice(0, shown).map((row, place) => html`<tr key=${keyOf ? keyOf(row) : place} aria-selected=${choose ? selected === keyOf?.(row) : undefined} onClick=${choose && (() => choose(row))}>
        ${columns.map((column) => html`<td class=${column.number ? "number" : ""}>${column.show ? column.show(row[column.name], row) : cell(row[column.name])}</td>`)}</tr>`)}</tbody>
    </table>
    ${sorted.length > shown && html`<p class="more"><button type="button" onClick=${() => setShown(shown + 5 * PAGE)}>Show more of ${sorted.length} rows</button></p>`}
  </div>`;
}

/** @param {{name: string, down: boolean} | null} order @param {string} name */
function sortOf(order, name) {
  if (order?.name !== name) return undefined;
  return order.down ? "descending" : "ascending";
}

/** @param {any[]} rows @param {Column[]} columns @param {{name: string, down: boolean}} order */
function sortedBy(rows, columns, order) {
  const column = columns.find((entry) => entry.name === order.name);
  const value = (/** @type {any} */ row) => (column?.order ? column.order(row) : row[order.name]) ?? null;
  const compare = (/** @type {any} */ a, /** @type {any} */ b) => {
    if (a === b) return 0;
    if (a === null || b === null) return a === null ? 1 : -1;
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  };
  return [...rows].sort((a, b) => (order.down ? -1 : 1) * compare(value(a), value(b)));
}
