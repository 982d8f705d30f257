// @ts-check
/** One release: where it stands, what the gate said and why, its figures, and its evidence. */
import { age, moment } from "../../format.js";
import { html, useEffect } from "../../html.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { Empty } from "../../parts/empty.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { ProblemBox } from "../../parts/problem.js";
import { href } from "../../router.js";
import { may } from "../../session.js";
import { Actions } from "./actions.js";
import { Checks } from "./checks.js";
import { Composition } from "./composition.js";
import { Evidence } from "./evidence.js";
import { Figures, Flags, Labels } from "./figures.js";
import { useRelease } from "./live.js";
import { Suggestions } from "./suggestions.js";
import { Timeline } from "./timeline.js";
import { policyOf, stepWords, UNITS } from "./words.js";

/** @param {{id: string}} props */
export function OneRelease({ id }) {
  const { body, posture, problem, again } = useRelease(id);
  useEffect(() => {
    if (body) document.title = `${body.name || body.id} · Releases · Pratique`;
  }, [body?.name]);
  if (problem?.status === 410) return html`<${Crumbs} /><${Empty} title="This release was withdrawn"><p>Its files are shredded. Whoever fetched them before may still have them.</p><p><a href=${href("releases")}>See all releases</a></p><//>`;
  if (!body) return html`<${Crumbs} /><h1>Release</h1><${ProblemBox} problem=${problem} again=${again} />`;
  return html`<${Crumbs} /><${Title} release=${body} posture=${posture} again=${again} />
    <${ProblemBox} problem=${body.error} />
    <${ProblemBox} problem=${problem} again=${again} />
    <div class="release-page">
      <div class="stack"><${Timeline} release=${body} posture=${posture} /><${Checks} release=${body} posture=${posture} /><${Suggestions} release=${body} /></div>
      ${posture && html`<div class="stack"><${Figures} posture=${posture} /><${Flags} posture=${posture} /></div>`}
    </div>
    ${posture && html`<${Evidence} release=${body} posture=${posture} />
      <div class="grid-2 apart"><${Policy} posture=${posture} /><${Labels} release=${body} posture=${posture} /></div>
      <${Composition} posture=${posture} />`}`;
}

function Crumbs() {
  return html`<nav class="small" aria-label="Where this is"><a href=${href("releases")}>Releases</a></nav>`;
}

/** @param {{release: any, posture: any, again: () => void}} props */
function Title({ release, posture, again }) {
  const { id } = release;
  return html`<header class="release-title">
    <div class="row"><h1>${release.name || id}</h1><${GateBadge} verdict=${release.verdict || release.status} /></div>
    <p class="soft">${release.recipient ? html`To <strong>${release.recipient}</strong>` : "To nobody named"}${release.purpose && html`, for ${release.purpose}`},
      <span> </span><time datetime=${release.created_at} title=${moment(release.created_at)}>${age(release.created_at)}</time>. <span class="mono small">${id}</span></p>
    <div class="row">
      ${release.moments.measured && may("operator", "auditor") && html`<a href=${href("risk", [id])}>Where the risk sits</a><a href=${href("attacks", [id])}>Adversaries</a>`}
      ${release.moments.measured && html`<a href=${href("releases", ["compare"], { one: id })}>Compare</a>`}
      <${CopyMenu} call=${{ method: "GET", path: posture ? `/releases/${id}/posture` : `/releases/${id}` }} policy=${policyOf(posture)} />
      ${may("operator") && html`<${Actions} release=${release} again=${again} />`}
    </div>
  </header>`;
}

/** @param {{posture: any}} props */
function Policy({ posture }) {
  const { attributes, steps, unit, built_in: name } = posture;
  const lists = [["identifiers", "Identifiers"], ["quasi_identifiers", "Quasi-identifiers"], ["sensitive", "Sensitive"], ["insensitive", "Insensitive"], ["drop", "Dropped"]];
  return html`<section class="panel" aria-labelledby="policy"><header><h2 id="policy">Policy and columns</h2>${name && html`<span class="soft">built-in ${name}</span>`}</header>
    ${steps.length ? html`<ol class="policy-steps">${steps.map((/** @type {any} */ step) => html`<li><code>${stepWords(step)}</code></li>`)}</ol>` : html`<p>No step: the columns are released as they are.</p>`}
    <dl class="pairs">${lists.filter(([list]) => attributes[list]?.length).map(([list, title]) => html`<dt>${title}</dt><dd>${attributes[list].join(", ")}</dd>`)}</dl>
    <p class="small soft">${UNITS[unit]} Policy digest <code class="digest">${posture.policy_sha256}</code></p>
  </section>`;
}
