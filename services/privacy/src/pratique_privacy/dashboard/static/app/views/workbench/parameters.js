// @ts-check
/** The parameters of one step, each in a field of its kind; what cannot be read yet changes nothing. */
import { html } from "../../html.js";
import { operationOf } from "./operations.js";

/** @param {{step: any, of: string, change: (step: any) => void}} props */
export function Parameters({ step, of, change }) {
  const name = (/** @type {any} */ parameter) => `${parameter.title || parameter.name} of ${of}`;
  const set = (/** @type {import("./operations.js").Parameter} */ parameter, /** @type {string} */ text) => {
    const value = read(parameter, text);
    if (value === undefined) return;
    const next = { ...step, [parameter.name]: value };
    if (value === null) delete next[parameter.name];
    change(next);
  };
  return html`${operationOf(step.op).parameters.map((parameter) => html`<label class="parameter small" key=${parameter.name}>
    ${parameter.title && html`<span class="soft">${parameter.title}</span>`}
    ${parameter.kind === "choice"
      ? html`<select class="small" aria-label=${name(parameter)} value=${String(step[parameter.name] ?? "")} onChange=${(/** @type {any} */ event) => set(parameter, event.target.value)}>
          ${(parameter.options || []).map(([name, title]) => html`<option key=${name} value=${name}>${title}</option>`)}</select>`
      : parameter.kind === "json"
        ? html`<textarea class="small mono" rows="2" aria-label=${name(parameter)} onChange=${(/** @type {any} */ event) => set(parameter, event.target.value)}>${JSON.stringify(step[parameter.name])}</textarea>`
        : html`<input class="small" type="number" aria-label=${name(parameter)} min=${parameter.min} max=${parameter.max} step=${parameter.step || (parameter.kind === "whole" ? 1 : "any")}
            value=${step[parameter.name] ?? ""} onChange=${(/** @type {any} */ event) => set(parameter, event.target.value)} onInput=${(/** @type {any} */ event) => event.target.validity.valid && set(parameter, event.target.value)} />`}
  </label>`)}`;
}

/** The value of a field: null for none where that may be, undefined for what cannot be read. @param {import("./operations.js").Parameter} parameter @param {string} text @returns {any} */
function read(parameter, text) {
  if (text.trim() === "") return parameter.optional ? null : undefined;
  switch (parameter.kind) {
    case "choice":
      return text === "true" ? true : text === "false" ? false : text;
    case "json":
      try {
        return JSON.parse(text);
      } catch {
        return undefined;
      }
    default: {
      const value = Number(text);
      return Number.isFinite(value) && (parameter.kind === "number" || Number.isInteger(value)) ? value : undefined;
    }
  }
}
