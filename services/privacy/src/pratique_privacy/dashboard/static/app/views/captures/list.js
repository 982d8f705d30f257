// @ts-check
/** The list of captures and tables, newest first. */
import { age, number, percent } from "../../format.js";
import { html } from "../../html.js";
import { alongArrows } from "../../keyboard.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { href } from "../../router.js";

/** @param {{sources: any[], chosen: string}} props */
export function SourceList({ sources, chosen }) {
  return html`<nav aria-label="Captures and tables" class="panel source-list" onKeyDown=${(/** @type {any} */ event) => alongArrows(event, "a")}>
    <ul class="plain">${sources.map((source) => html`<li key=${source.id}>
      <a href=${href("captures", [source.id])} aria-current=${source.id === chosen ? "true" : undefined}>
        <strong>${nameOf(source)}</strong>
        <span class="small soft">${sizeOf(source)}${source.pilot ? `, pilot ${source.pilot}` : ""}, ${age(source.created_at)}</span>
        ${source.status !== "ready" && html`<${GateBadge} verdict=${source.status} />`}
      </a></li>`)}</ul>
  </nav>`;
}

/** @param {any} source */
export function nameOf(source) {
  return source.name || `${source.id.startsWith("cap_") ? "Capture" : "Table"} ${source.id.slice(-6)}`;
}

/** @param {any} source */
function sizeOf(source) {
  if (source.id.startsWith("dst_")) return `${number(source.rows)} rows`;
  if (source.status === "running") return `profiled to ${percent(source.progress?.share, 0)}`;
  return source.status === "ready" ? `${number(source.packets)} packets, ${number(source.records)} hosts` : "capture";
}
