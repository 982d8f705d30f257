// @ts-check
/** Suggestions as chips: what would help, with its predicted effect; taking one is one step that can be undone. */
import { number, percent } from "../../format.js";
import { html } from "../../html.js";
import { patched } from "./bench.js";
import { asked, bench, change, preview, suggestions } from "./desk.js";

export function Suggestions() {
  const now = bench.value;
  const { request, found } = suggestions.value || { request: "", found: [] };
  if (!now || !found.length) return null;
  const stale = request !== asked.value;
  return html`<section class="panel suggestions" aria-label="Suggestions"><h2>Suggestions ${stale && html`<span class="small soft">of before your last change; new ones are coming</span>`}</h2>
    <ul class="plain chips">${found.map((one) => html`<li key=${JSON.stringify(one.patch)}>
      <button type="button" class="chip" disabled=${stale} title=${one.reason} onClick=${() => change(patched(now, one.patch), `suggestion ${one.rule}`)}>
        <span>${one.reason}</span><span class="small effect">${effectOf(one.predicted)}</span></button></li>`)}</ul>
  </section>`;
}

/** @param {any} predicted */
function effectOf(predicted) {
  const figures = preview.value?.after.metrics;
  if (!predicted || !figures) return "";
  const changed = (/** @type {string} */ name, /** @type {any} */ from, /** @type {any} */ to, /** @type {(value: any) => string} */ show) => (show(from) === show(to) ? "" : `${name} ${show(from)} → ${show(to)}`);
  const parts = [
    changed("k", figures.k, predicted.k, number),
    changed("unique", figures.uniques, predicted.uniques, number),
    changed("l", figures.l, predicted.l, number),
    changed("t", figures.t, predicted.t, (value) => number(value, 2)),
    changed("survival", preview.value.records.survival, predicted.survival, (value) => percent(value, 0)),
  ].filter(Boolean);
  return parts.join(", ") || "no figure changes by itself";
}
