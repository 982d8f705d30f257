// @ts-check
/** The columns: one row each, with its class and why, what is done to it, and how many values it has. */
import { number } from "../../format.js";
import { html, useId, useState } from "../../html.js";
import { alongArrows } from "../../keyboard.js";
import { CLASSES, exchanged, freshStep, reclassed, withStep, without } from "./bench.js";
import { advice, bench, change, preview } from "./desk.js";
import { operationOf, operationsOn } from "./operations.js";
import { Parameters } from "./parameters.js";

export function Columns() {
  return html`<section class="panel" aria-label="Columns">
    <header><h2>Columns</h2><span class="small soft">Hover or focus a name for the reason of its suggested class; arrows move along</span></header>
    <div class="columns" role="table" aria-label="Columns of the source" onKeyDown=${(/** @type {any} */ event) => event.target.matches(".column-name") && alongArrows(event, ".column-name")}>
      <div class="column head-row" role="row">
        <span role="columnheader">Column</span><span role="columnheader">Class</span><span role="columnheader">Transformation</span><span role="columnheader" class="number">Values</span></div>
      ${advice.value.map((about) => html`<${Column} key=${about.column} about=${about} />`)}
    </div>
  </section>`;
}

/** @param {{about: import("./bench.js").Advice}} props */
function Column({ about }) {
  const now = bench.value;
  const [open, setOpen] = useState(false);
  const tip = useId();
  if (!now) return null;
  const { column } = about;
  const chosen = now.classes[column];
  const left = preview.value?.distinct?.[column]?.after;
  return html`<div class="column ${chosen}" role="row" data-column=${column}>
    <span role="rowheader" class="name">
      <button type="button" class="column-name" aria-describedby=${tip} aria-expanded=${open} onClick=${() => setOpen(!open)}>${column}</button>
      <span class="small soft">${about.type}</span>
      <span class="tip ${open ? "open" : ""}" role="tooltip" id=${tip}>Suggested: <strong>${titleOf(about.class)}</strong>. ${about.reason}</span>
    </span>
    <span role="cell"><select class="small" aria-label="Class of ${column}" value=${chosen} onChange=${(/** @type {any} */ event) => change(reclassed(now, column, event.target.value, about), `${column}: ${titleOf(event.target.value)}`)}>
      ${CLASSES.map(([name, title]) => html`<option key=${name} value=${name}>${title}</option>`)}</select>
      ${chosen !== about.class && html`<span class="small soft otherwise">suggested: ${titleOf(about.class)}</span>`}</span>
    <span role="cell" class="steps">${chosen === "drop" ? html`<span class="small soft">does not leave</span>` : html`<${Steps} about=${about} />`}
      ${chosen === "sensitive" && ["integer", "number"].includes(about.type) && html`<${Bins} column=${column} />`}</span>
    <span role="cell" class="number small" title="Distinct values before and after"><span class="narrow-only soft">values </span>${number(about.distinct)}${left !== undefined && left !== about.distinct ? html` <span aria-hidden="true">→</span><span class="hidden-text"> to </span> <strong>${number(left)}</strong>` : ""}</span>
  </div>`;
}

/** @param {{about: import("./bench.js").Advice}} props */
function Steps({ about }) {
  const now = bench.value;
  if (!now) return null;
  const { column } = about;
  const own = now.steps.map((step, place) => ({ step, place })).filter(({ step }) => step.column === column);
  const add = (/** @type {any} */ event) => {
    const op = event.target.value;
    event.target.value = "";
    if (op) change(withStep(now, freshStep(op, column, now.pilot)), `${column}: ${operationOf(op).title}`);
  };
  const retype = (/** @type {number} */ place, /** @type {string} */ op) =>
    op ? change(exchanged(now, place, freshStep(op, column, now.pilot)), `${column}: ${operationOf(op).title}`) : change(without(now, place), `${column}: a step less`);
  return html`${own.map(({ step, place }) => html`<span class="step" key=${place}>
      <select class="small" aria-label="Transformation of ${column}" value=${step.op} onChange=${(/** @type {any} */ event) => retype(place, event.target.value)}>
        <option value="">none</option><${Choices} kind=${about.type} current=${step.op} /></select>
      <${Parameters} step=${step} of=${column} change=${(/** @type {any} */ next) => change(exchanged(now, place, next), `${column}: ${operationOf(step.op).title}`)} />
      <button type="button" class="quiet small" title="Take this step out" aria-label="Take ${operationOf(step.op).title} out of ${column}" onClick=${() => change(without(now, place), `${column}: a step less`)}>✕</button>
    </span>`)}
    <select class="small add" aria-label="Add a transformation to ${column}" value="" onChange=${add}><option value="">${own.length ? "then …" : "as it is; transform …"}</option><${Choices} kind=${about.type} current="" /></select>`;
}

/** Quantile buckets in which a numeric sensitive column is counted by l and t; they are fixed on the input. @param {{column: string}} props */
function Bins({ column }) {
  const now = bench.value;
  if (!now) return null;
  const set = (/** @type {any} */ event) => {
    if (!event.target.validity.valid) return;
    const { [column]: _, ...others } = now.bins;
    const bins = event.target.value ? { ...others, [column]: { quantile: Number(event.target.value) } } : others;
    change({ ...now, bins }, `${column}: bins`);
  };
  return html`<label class="parameter small"><span class="soft">counted in quantile buckets</span>
    <input class="small" type="number" min="2" max="1000" placeholder="none" aria-label="Quantile buckets of ${column}" value=${now.bins[column]?.quantile ?? ""} onInput=${set} /></label>`;
}

/** @param {{kind: string, current: string}} props */
function Choices({ kind, current }) {
  const groups = operationsOn(kind);
  const known = groups.some(([, entries]) => entries.some(([op]) => op === current));
  return html`${groups.map(([group, entries]) => html`<optgroup key=${group} label=${group}>${entries.map(([op, operation]) => html`<option key=${op} value=${op}>${operation.title}</option>`)}</optgroup>`)}
    ${current && !known && html`<option value=${current}>${operationOf(current).title}</option>`}`;
}

/** @param {string} name */
function titleOf(name) {
  return CLASSES.find(([known]) => known === name)?.[1] || name;
}
