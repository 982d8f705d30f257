// @ts-check
/** The list of studies of one kind, newest first, and the way to a new one. */
import { age, moment } from "../../format.js";
import { html } from "../../html.js";
import { alongArrows } from "../../keyboard.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { href } from "../../router.js";
import { may } from "../../session.js";

/** @param {{kind: import("./kinds.js").Kind, studies: any[], chosen: string | undefined}} props */
export function StudyList({ kind, studies, chosen }) {
  return html`<nav aria-label=${kind.title} class="panel source-list" onKeyDown=${(/** @type {any} */ event) => alongArrows(event, "a")}>
    <ul class="plain">${may("operator") && html`<li><a href=${href("explore", [kind.path, "new"])} aria-current=${chosen === "new" ? "true" : undefined}><strong>New ${kind.one} …</strong></a></li>`}
      ${studies.map((study) => html`<li key=${study.id}><a href=${href("explore", [kind.path, study.id])} aria-current=${study.id === chosen ? "true" : undefined}>
        <strong>${titleOf(kind, study)}</strong>
        <span class="small soft"><time datetime=${study.created_at} title=${moment(study.created_at)}>${age(study.created_at)}</time></span>
        ${study.status !== "completed" && html`<${GateBadge} verdict=${study.status} />`}</a></li>`)}</ul>
  </nav>`;
}

/** @param {import("./kinds.js").Kind} kind @param {any} study */
export function titleOf(kind, study) {
  const word = kind.one[0].toUpperCase() + kind.one.slice(1);
  return study.name || `${word} ${study.id.slice(-6)}`;
}
