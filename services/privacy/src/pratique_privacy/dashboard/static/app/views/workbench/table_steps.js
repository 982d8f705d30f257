// @ts-check
/** Steps on the whole table, and the order in which all steps run. */
import { html } from "../../html.js";
import { exchanged, freshStep, moved, withStep, without } from "./bench.js";
import { bench, change } from "./desk.js";
import { inWords, operationOf, TABLE_OPERATIONS } from "./operations.js";
import { Parameters } from "./parameters.js";

export function TableSteps() {
  const now = bench.value;
  if (!now) return null;
  const own = now.steps.map((step, place) => ({ step, place })).filter(({ step }) => step.op in TABLE_OPERATIONS);
  const shown = Object.keys(now.classes).filter((column) => ["quasi_identifier", "sensitive", "insensitive"].includes(now.classes[column]));
  const add = (/** @type {any} */ event) => {
    const op = event.target.value;
    event.target.value = "";
    if (op) change(withStep(now, freshStep(op, undefined, now.pilot)), operationOf(op).title);
  };
  return html`<section class="panel" aria-label="The whole table">
    <header><h2>The whole table</h2></header>
    ${own.map(({ step, place }) => html`<div class="step" key=${place}>
      <strong>${operationOf(step.op).title}</strong>
      <${Parameters} step=${step} of="the table" change=${(/** @type {any} */ next) => change(exchanged(now, place, next), operationOf(step.op).title)} />
      ${step.op === "class_support" && html`<${Exempt} step=${step} columns=${shown} change=${(/** @type {any} */ next) => change(exchanged(now, place, next), "rare labels stay")} />`}
      <button type="button" class="quiet small" aria-label="Take ${operationOf(step.op).title} out" onClick=${() => change(without(now, place), `${operationOf(step.op).title} taken out`)}>✕</button>
    </div>`)}
    <div class="row"><select class="small" aria-label="Add a step on the whole table" value="" onChange=${add}><option value="">Add a step …</option>
      ${Object.entries(TABLE_OPERATIONS).map(([op, operation]) => html`<option key=${op} value=${op}>${operation.title}</option>`)}</select></div>
    ${now.steps.length > 1 && html`<details><summary class="small">The ${now.steps.length} steps in the order in which they run</summary>
      <ol class="order">${now.steps.map((step, place) => html`<li key=${place}><span>${step.column && html`<code>${step.column}</code> `}${inWords(step)}</span>
        <button type="button" class="quiet small" disabled=${place === 0} aria-label="Run step ${place + 1} earlier" onClick=${() => change(moved(now, place, -1), "order of steps")}>↑</button>
        <button type="button" class="quiet small" disabled=${place === now.steps.length - 1} aria-label="Run step ${place + 1} later" onClick=${() => change(moved(now, place, 1), "order of steps")}>↓</button></li>`)}</ol></details>`}
  </section>`;
}

/** Rows that carry one of the rarest labels stay. @param {{step: any, columns: string[], change: (step: any) => void}} props */
function Exempt({ step, columns, change }) {
  const choose = (/** @type {string} */ column) => {
    const { exempt, ...rest } = step;
    change(column ? { ...rest, exempt: { column, rarest: exempt?.rarest || 2 } } : rest);
  };
  return html`<label class="parameter small"><span class="soft">but keep rare</span>
      <select class="small" value=${step.exempt?.column || ""} onChange=${(/** @type {any} */ event) => choose(event.target.value)}>
        <option value="">nothing</option>${columns.map((column) => html`<option key=${column} value=${column}>${column}</option>`)}</select></label>
    ${step.exempt && html`<label class="parameter small"><span class="soft">the rarest</span>
      <input class="small" type="number" min="1" max="1000" value=${step.exempt.rarest} onInput=${(/** @type {any} */ event) => event.target.validity.valid && change({ ...step, exempt: { ...step.exempt, rarest: Number(event.target.value) } })} /></label>`}`;
}
