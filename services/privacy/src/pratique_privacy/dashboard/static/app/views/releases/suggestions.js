// @ts-check
/** Suggestions: for a release that did not pass, changes of its policy with their predicted effect. */
import { html, useState } from "../../html.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { useResource } from "../../resource.js";
import { may } from "../../session.js";
import { figureOf, kindOf } from "./words.js";

/** @param {{release: any}} props */
export function Suggestions({ release }) {
  const [asked, setAsked] = useState(false);
  const found = useResource(asked ? `/releases/${release.id}/suggestions` : null);
  if (!may("operator") || release.status !== "completed" || release.verdict === "pass") return null;
  const suggestions = found.body.value;
  return html`<section class="panel" aria-labelledby="helps"><header><h2 id="helps">What would help</h2>${!asked && html`<button type="button" onClick=${() => setAsked(true)}>Look for changes</button>`}</header>
    <p class="small soft">Each change is measured on this source by itself, and with no adversary.</p>
    <${ProblemBox} problem=${found.problem.value} again=${found.again} />
    ${asked && !suggestions && !found.problem.value && html`<${Progress} label="Trying changes" />`}
    ${suggestions && (suggestions.length ? html`<ul class="notes plain">${suggestions.map((/** @type {any} */ one) => html`<${Suggestion} one=${one} />`)}</ul>` : html`<p>No rule knows a change that would help. Try coarser steps in the workbench.</p>`)}
  </section>`;
}

/** @param {{one: any}} props */
function Suggestion({ one }) {
  const predicted = Object.entries(one.predicted || {}).filter(([, value]) => typeof value === "number");
  return html`<li class="note"><span>${one.reason}</span>
    ${predicted.length > 0 && html`<span class="small number">Then ${predicted.map(([name, value]) => `${kindOf(name).title} ${figureOf(name, /** @type {number} */ (value))}`).join(", ")}.</span>`}
    <code class="small soft">${one.rule}</code></li>`;
}
