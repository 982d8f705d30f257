// @ts-check
/** The smallest classes, with the released values of their quasi-identifiers. */
import { asNumber, cell, plural } from "../../format.js";
import { html, useState } from "../../html.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { ExportMenu } from "../../parts/export_menu.js";
import { DataTable } from "../../parts/table.js";
import { isShaped, isVeiled, veiled } from "../../veil.js";

/** @param {{records: any[], call: any}} props */
export function SmallestClasses({ records, call }) {
  const [open, setOpen] = useState(false);
  const fields = Object.keys(records[0]?.values || {});
  const secret = fields.filter((field) => isVeiled(field, "quasi_identifier") || records.some(({ values }) => isShaped(values[field])));
  const shown = (/** @type {any} */ values, /** @type {string} */ field) => cell(open || !secret.includes(field) ? values[field] : veiled(values[field]));
  const rows = records.map(({ size, values, singled_by: sets = [] }) => ({ size, ...Object.fromEntries(fields.map((field) => [`v:${field}`, shown(values, field)])), by: sets.map((/** @type {string[]} */ set) => set.join(" + ")).join("; ") }));
  const columns = [{ name: "size", title: "Records", number: true, show: asNumber }, ...fields.map((field) => ({ name: `v:${field}`, title: field })), { name: "by", title: "Alone already by", show: (/** @type {string} */ by) => by || html`<span class="soft">–</span>` }];
  return html`<section class="panel smallest"><header><h2>Smallest classes</h2>${secret.length > 0 && html`<label class="small"><input type="checkbox" checked=${open} onChange=${() => setOpen(!open)} /> Identifiers in clear</label>`}<${ExportMenu} name="Smallest classes" columns=${columns} rows=${rows} /><${CopyMenu} call=${call} /></header>
    <p class="small soft">The ${plural(rows.length, "class", "classes")} with the fewest records, by their released values. For a record that is alone: the smallest sets of fields that leave it so.</p>
    <${DataTable} caption="Smallest classes" columns=${columns} rows=${rows} /></section>`;
}
