// @ts-check
/** Composition: what this release says together with the others of its recipient. */
import { age, asNumber, moment } from "../../format.js";
import { html } from "../../html.js";
import { DataTable } from "../../parts/table.js";
import { href } from "../../router.js";
import { figureOf, kindOf } from "./words.js";

const FIGURES = ["k", "uniques", "exact_qi", "partial_qi"];

/** @param {{posture: any}} props */
export function Composition({ posture }) {
  const joined = posture.composition;
  const prior = posture.prior_releases || [];
  if (!posture.after.rows || (!joined?.releases.length && !prior.length)) return null;
  const rows = joined?.releases.length ? joined.releases : prior;
  const unknown = joined?.releases.length > 0 && joined.k === null;
  const columns = [
    { name: "release", title: "Release", show: (/** @type {string} */ id) => html`<a class="mono" href=${href("releases", [id])}>${id}</a>` },
    { name: "created_at", title: "Age", show: (/** @type {string} */ at) => html`<time datetime=${at} title=${moment(at)}>${age(at)}</time>` },
    ...(joined?.releases.length ? [{ name: "shared", title: "Shared rows", number: true, show: asNumber }, { name: "linked", title: "Linked by a pseudonym", number: true, show: asNumber }] : []),
  ];
  return html`<section class="panel" aria-labelledby="joined"><h2 id="joined">With other releases of this recipient</h2>
    <p>${joined?.releases.length ? "Two releases, each with classes of five, can leave a record alone together. Joined with the releases below, at worst:" : "Earlier releases of the same source to the same recipient:"}</p>
    ${joined?.releases.length > 0 && html`<dl class="quick">${FIGURES.map((name) => html`<div><dt title=${kindOf(`composition.${name}`).definition}>${kindOf(`composition.${name}`).title}</dt>
      <dd class="number">${figureOf(`composition.${name}`, joined[name])} <span class="small soft">alone ${figureOf(`composition.${name}`, alone(posture, name))}</span></dd></div>`)}</dl>`}
    ${unknown && html`<p class="note">One of them is gone or too large to join, so these figures are not known; a gate that bounds them does not pass.</p>`}
    <${DataTable} caption="Releases that are joined" columns=${columns} rows=${rows} />
  </section>`;
}

/** The same figure of this release by itself. @param {any} posture @param {string} name */
function alone(posture, name) {
  if (name === "exact_qi") return posture.after.exact_reid;
  if (name === "partial_qi") return posture.attacks?.partial_qi?.exact ?? posture.attacks?.partial_qi?.estimate;
  return posture.after[name];
}
