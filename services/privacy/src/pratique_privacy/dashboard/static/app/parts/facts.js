// @ts-check
/** Facts: names and values in a compact list. */
import { html } from "../html.js";

/** @param {{facts: [string, any][]}} props */
export function Facts({ facts }) {
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
