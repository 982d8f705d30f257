// @ts-check
/** Export: a table as CSV, a chart as PNG and SVG. */
import { csv, save } from "../download.js";
import { html } from "../html.js";
import { Menu } from "./menu.js";

/** @param {{name: string, columns?: {name: string, title?: string}[], rows?: any[], png?: () => Promise<Blob>, svg?: () => Promise<Blob>}} props */
export function ExportMenu({ name, columns, rows, png, svg }) {
  const file = name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  /** @type {[string, () => void][]} */
  const each = [];
  if (columns && rows) each.push(["CSV", () => save(`${file}.csv`, csv(columns, rows))]);
  if (png) each.push(["PNG", async () => save(`${file}.png`, await png())]);
  if (svg) each.push(["SVG", async () => save(`${file}.svg`, await svg())]);
  return html`<${Menu} label="Export ▾" title="Export as a file">
    ${(/** @type {() => void} */ close) =>
      each.map(([label, act]) => html`<button type="button" onClick=${() => { act(); close(); }}>${label}</button>`)}
  <//>`;
}
