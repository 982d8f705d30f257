// @ts-check
/** Whose risk a figure is: the three attackers of the disclosure-control literature, and the typical record. */
import { number, percent, plural } from "../../format.js";
import { html } from "../../html.js";

/** @param {{found: any}} props */
export function Attackers({ found }) {
  const { worst, typical, histogram } = found;
  const classes = histogram.reduce((/** @type {number} */ sum, /** @type {any} */ bar) => sum + bar.classes, 0);
  const rows = histogram.reduce((/** @type {number} */ sum, /** @type {any} */ bar) => sum + bar.rows, 0);
  const cards = [
    ["Prosecutor", percent(worst.risk), "Knows that the target is in the release", worst.size === 1 ? `The worst record stands alone in its class; ${plural(worst.rows, "record does", "records do")}.` : `The worst record hides among ${number(worst.size)}: 1/${number(worst.size)}. ${plural(worst.rows, "record does", "records do")}.`],
    ["Journalist", "not computed", "Knows only a larger population that the target is part of", "That population was not given. The prosecutor's figure is never smaller."],
    ["Marketer", percent(classes / rows), "Knows everybody, and counts the successes", `The mean over records: ${number(classes)} classes over ${plural(rows, "record")}.`],
    ["Typical record", percent(typical.risk), "The median, no attacker", `Half of the records have no greater risk: a class of ${number(typical.size)}.`],
  ];
  return html`<section aria-labelledby="whose" class="whose"><h2 id="whose">Whose risk a figure is</h2>
    <dl>${cards.map(([name, value, knows, why]) => html`<div class="panel"><dt>${name}</dt><dd class="value number ${value === "not computed" ? "soft" : ""}">${value}</dd>
      <dd class="small"><em>${knows}.</em></dd><dd class="small soft">${why}</dd></div>`)}</dl></section>`;
}
