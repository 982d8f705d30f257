// @ts-check
/** Records before and after side by side: changed cells marked in both shape and colour, class size a row, dropped rows told, identifiers in dots. */
import { cell, number } from "../../format.js";
import { html, useMemo, useState } from "../../html.js";
import { ExportMenu } from "../../parts/export_menu.js";
import { isVeiled, veiled, veiledAfter } from "../../veil.js";
import { advice, bench, preview, SHOWN_ROWS } from "./desk.js";

const PAGE = 25;

export function Records() {
  const found = preview.value;
  const now = bench.value;
  const [shown, setShown] = useState(PAGE);
  const [narrow, setNarrow] = useState("all");
  const [open, setOpen] = useState(false);
  const pairs = useMemo(() => (found ? pairsOf(found) : []), [found]);
  if (!found || !now) return null;
  const columns = Object.keys(now.classes).filter((column) => found.before.rows[0] && column in found.before.rows[0]);
  const suggested = Object.fromEntries(advice.value.map((one) => [one.column, one.class]));
  const secret = columns.filter((name) => isVeiled(name, now.classes[name], suggested[name]));
  const was = (/** @type {any} */ pair, /** @type {string} */ name) => (open || !secret.includes(name) ? pair.before[name] : veiled(pair.before[name]));
  const is = (/** @type {any} */ pair, /** @type {string} */ name) => (open || !secret.includes(name) ? pair.after?.[name] : veiledAfter(pair.before[name], pair.after?.[name]));
  const kept = pairs.filter((pair) => narrow === "all" || (narrow === "changed" ? pair.changed.size > 0 || !pair.after : pair.size === 1));
  const flat = pairs.map((pair) => ({ ...Object.fromEntries(columns.flatMap((name) => [[`${name} before`, was(pair, name)], [`${name} after`, is(pair, name)]])), "class size": pair.size }));
  const heads = columns.flatMap((name) => [{ name: `${name} before` }, { name: `${name} after` }]);
  return html`<section class="panel" aria-label="Records"><header><h2>Records</h2>
      <label class="small">Show <select class="small" value=${narrow} onChange=${(/** @type {any} */ event) => setNarrow(event.target.value)}>
        <option value="all">all</option><option value="changed">changed</option><option value="alone">alone in their class</option></select></label>
      ${secret.length > 0 && html`<label class="small"><input type="checkbox" checked=${open} onChange=${() => setOpen(!open)} /> Identifiers in clear</label>`}
      <${ExportMenu} name="records of a preview" columns=${[...heads, { name: "class size" }]} rows=${flat} /></header>
    <p class="small soft">The first ${number(pairs.length)} of ${number(found.before.metrics.rows)} records; nothing of this is released. <span class="changed-sample">≠ changed</span>; a struck row is dropped.</p>
    <div class="table-frame" tabindex="0" role="region" aria-label="Records before and after"><table class="data records">
      <thead><tr><th scope="col" class="number">Class size</th>${columns.map((name) => html`<th scope="col" key=${name}>${name}</th>`)}</tr></thead>
      <tbody>${kept.slice(0, shown).map((pair) => html`<tr key=${pair.place} class=${pair.after ? "" : "dropped"}>
        <td class="number">${pair.after ? html`${pair.size === 1 ? html`<span class="worse" title="alone in its class">⚠ 1</span>` : number(pair.size)}` : html`<span class="worse">dropped</span>`}</td>
        ${columns.map((name) => html`<td key=${name} class=${pair.changed.has(name) ? "changed" : ""}>
          <span class="was">${cell(was(pair, name))}</span>${pair.changed.has(name) && html`<span class="is"><span aria-hidden="true">≠ </span><span class="hidden-text">becomes </span>${cell(is(pair, name))}</span>`}</td>`)}</tr>`)}</tbody></table>
      ${kept.length > shown && html`<p class="more"><button type="button" onClick=${() => setShown(SHOWN_ROWS)}>Show more of ${kept.length}</button></p>`}
      ${!kept.length && html`<p class="more soft">No such record among them.</p>`}
    </div>
  </section>`;
}

/** @param {any} found @returns {{place: number, before: any, after: any, size: number | null, changed: Set<string>}[]} */
function pairsOf(found) {
  const after = new Map(found.kept.map((/** @type {number} */ place, /** @type {number} */ at) => [place, at]));
  return found.before.rows.map((/** @type {any} */ before, /** @type {number} */ place) => {
    const at = after.get(place);
    const row = at === undefined ? null : found.after.rows[/** @type {number} */ (at)];
    const changed = new Set(row ? Object.keys(row).filter((name) => JSON.stringify(row[name]) !== JSON.stringify(before[name])) : []);
    return { place, before, after: row, size: at === undefined ? null : found.class_sizes[/** @type {number} */ (at)], changed };
  });
}
