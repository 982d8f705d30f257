// @ts-check
/** Two releases side by side, what differs marked by a shape and a word. */
import { age, asPercent } from "../../format.js";
import { html } from "../../html.js";
import { Chart } from "../../parts/chart.js";
import { Empty } from "../../parts/empty.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { ProblemBox } from "../../parts/problem.js";
import { ReleasePicker, useMeasured } from "../../parts/release_picker.js";
import { DataTable } from "../../parts/table.js";
import { go, href, route } from "../../router.js";
import { columnRows, figureRows, gateRows, shareRows, stepRows } from "./difference.js";
import { useRelease } from "./live.js";

export function Comparison() {
  const { one, other, only } = route.value.params;
  const known = useMeasured();
  const left = useRelease(one || null);
  const right = useRelease(other || null);
  const change = (/** @type {Record<string, string | undefined>} */ given) => go(href("releases", ["compare"], { one, other, only, ...given }));
  const both = left.posture && right.posture;
  return html`<nav class="small" aria-label="Where this is"><a href=${href("releases")}>Releases</a></nav>
    <div class="row"><h1>Compare two releases</h1>
      <span class="push row"><label class="row"><input type="checkbox" checked=${only === "1"} onChange=${() => change({ only: only === "1" ? undefined : "1" })} /> Differences only</label>
        <button type="button" disabled=${!one || !other} onClick=${() => change({ one: other, other: one })}>Swap</button></span></div>
    <${ProblemBox} problem=${known.problem || left.problem || right.problem} again=${() => (known.again(), left.again(), right.again())} />
    <div class="grid-2"><${Side} label="One" found=${left} id=${one} releases=${known.releases} choose=${(/** @type {string} */ id) => change({ one: id })} />
      <${Side} label="Other" found=${right} id=${other} releases=${known.releases} choose=${(/** @type {string} */ id) => change({ other: id })} /></div>
    ${both ? html`<${Both} one=${left} other=${right} only=${only === "1"} />` : (!one || !other) && html`<${Empty} title="Two are needed"><p>Choose a release on each side, or tick two in <a href=${href("releases")}>the list</a>.</p><//>`}`;
}

/** @param {{label: string, found: any, id: string | undefined, releases: any[] | undefined, choose: (id: string) => void}} props */
function Side({ label, found, id, releases, choose }) {
  const { body, posture } = found;
  return html`<section class="panel" aria-label="${label} release"><${ReleasePicker} label="${label} release" chosen=${id} choose=${choose} releases=${releases} />
    ${body && html`<div class="row"><${GateBadge} verdict=${body.verdict || body.status} /><a href=${href("releases", [id || ""])}>${body.name || body.id}</a></div>
      <p class="small soft">${body.recipient ? `To ${body.recipient}, ` : ""}${age(body.created_at)}${posture?.built_in ? `, built-in ${posture.built_in}` : ""}${posture?.sources.length ? html`, from <span class="mono">${posture.sources.join(", ")}</span>` : ""}</p>`}
  </section>`;
}

/** @param {{one: any, other: any, only: boolean}} props */
function Both({ one, other, only }) {
  const kept = (/** @type {any[]} */ rows) => (only ? rows.filter((row) => row.differs) : rows);
  const elsewhere = one.posture.sources.join() !== other.posture.sources.join() || one.posture.attributes.quasi_identifiers.join() !== other.posture.attributes.quasi_identifiers.join();
  const [left, right] = names(one.body, other.body);
  const parts = [
    ["Figures of the released records", kept(figureRows(one.posture, other.posture)), "Figure"],
    ["Gate", kept(gateRows(one.posture, other.posture)), "Bound"],
    ["What each column is", kept(columnRows(one.posture, other.posture)), "Column"],
    ["Steps of the policy", kept(stepRows(one.posture, other.posture)), "Step"],
  ];
  return html`${elsewhere && html`<p class="note">These two were made of other sources or with other quasi-identifiers: k and what follows from it do not measure the same thing.</p>`}
    <${Shares} id=${other.body.id} rows=${shareRows(one.posture, other.posture, left, right)} names=${[left, right]} />
    <div class="release-page compared">${[parts.slice(0, 1), parts.slice(1)].map((column) => html`<div class="stack">
      ${column.map(([title, rows, first]) => html`<${Part} key=${title} title=${title} first=${first} rows=${rows} names=${[left, right]} />`)}</div>`)}</div>`;
}

/** @param {any} one @param {any} other */
function names(one, other) {
  const [left, right] = [one.name || one.id, other.name || other.id];
  return left === right ? [`${left} (one)`, `${right} (other)`] : [left, right];
}

/** @param {{title: string, first: string, rows: any[], names: string[]}} props */
function Part({ title, first, rows, names: [left, right] }) {
  const side = (/** @type {any} */ value, /** @type {any} */ row) => html`<span class=${row.differs ? "differs" : ""}>${value}</span>`;
  const columns = [
    { name: "title", title: first },
    { name: "left", title: left, show: side },
    { name: "right", title: right, show: (/** @type {any} */ value, /** @type {any} */ row) => html`${side(value, row)} <span class="mark ${row.tone}"><span aria-hidden="true">${row.shape}</span> ${row.word}</span>` },
  ];
  return html`<section class="panel"><h2>${title}</h2>${rows.length ? html`<${DataTable} caption=${title} columns=${columns} rows=${rows} />` : html`<p class="soft">No difference.</p>`}</section>`;
}

/** Shares of both on one scale, joined by a line. @param {{id: string, rows: any[], names: string[]}} props */
function Shares({ id, rows, names: [left, right] }) {
  if (!rows.length) return null;
  const y = { field: "title", type: "nominal", sort: null, title: null };
  const x = { field: "share", type: "quantitative", scale: { domain: [0, 1] }, axis: { format: "%", title: null } };
  const spec = {
    encoding: { y },
    layer: [
      { mark: { type: "line", strokeWidth: 2, opacity: 0.5 }, encoding: { x, detail: { field: "title" } } },
      { mark: { type: "point", filled: true, size: 110, opacity: 1 }, encoding: { x, color: { field: "release", type: "nominal", sort: [left, right], title: null, legend: { direction: "vertical", labelLimit: 300 } }, shape: { field: "release", type: "nominal", sort: [left, right], title: null, scale: { range: ["circle", "diamond"] } } } },
    ],
  };
  const height = (rows.length / 2) * 28 + 60;
  return html`<section class="panel"><${Chart} title="Shares side by side" summary="${left} as circles, ${right} as diamonds" spec=${spec} rows=${rows} height=${height} call=${{ method: "GET", path: `/releases/${id}/posture` }}
    columns=${[{ name: "title", title: "Figure" }, { name: "release", title: "Release" }, { name: "share", title: "Share", number: true, show: asPercent }]} /></section>`;
}
