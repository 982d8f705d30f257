// @ts-check
/** The checks of the gate: what was asked, what was found, and why that is a pass or not. */
import { html } from "../../html.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { checkWords, figureOf, isOver, kindOf, verdictWords } from "./words.js";

/** @param {{release: any, posture: any}} props */
export function Checks({ release, posture }) {
  const gate = posture?.gate;
  if (!gate && isOver(release.status)) return null;
  return html`<section class="panel" aria-labelledby="gate"><header><h2 id="gate">Gate</h2>${gate && html`<${GateBadge} verdict=${gate.verdict} />`}</header>
    <p>${verdictWords(gate?.verdict, Boolean(Object.keys(posture?.files || {}).length))}</p>
    ${gate && (gate.checks.length ? html`<ul class="checks plain">${gate.checks.map((/** @type {any} */ check) => html`<${Check} check=${check} />`)}</ul>` : html`<p class="soft">No bound was asked for.</p>`)}
  </section>`;
}

/** @param {{check: any}} props */
function Check({ check }) {
  const kind = kindOf(check.metric);
  return html`<li>
    <${GateBadge} verdict=${check.status} />
    <span class="what"><strong title=${kind.definition}>${kind.title}</strong></span>
    <span class="found number"><strong>${figureOf(check.metric, check.value)}</strong> <span class="soft">${check.op === ">=" ? "≥" : "≤"} ${figureOf(check.metric, check.bound)}</span></span>
    <span class="why small soft">${checkWords(check)}</span>
  </li>`;
}
