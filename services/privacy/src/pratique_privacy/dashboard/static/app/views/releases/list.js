// @ts-check
/** The list of releases, a page at a time, newest first; two of them can be picked to compare. */
import { age, moment } from "../../format.js";
import { html } from "../../html.js";
import { Empty } from "../../parts/empty.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { ProblemBox } from "../../parts/problem.js";
import { DataTable } from "../../parts/table.js";
import { useResource } from "../../resource.js";
import { go, href, route } from "../../router.js";
import { may } from "../../session.js";
import { isOver } from "./words.js";

const PAGE = 25;
const CHOICES = { verdict: ["pass", "fail", "indeterminate"], status: ["queued", "running", "attacking", "completed", "failed", "cancelled"] };

export function ReleaseList() {
  const { params } = route.value;
  const query = new URLSearchParams({ limit: String(PAGE) });
  for (const name of ["status", "verdict", "after"]) if (params[name]) query.set(name, params[name]);
  const running = (/** @type {any} */ page) => page.data.some((/** @type {any} */ one) => !isOver(one.status));
  const found = useResource(`/releases?${query}`, { every: 2000, whilst: running });
  const page = found.body.value;
  return html`<div class="row"><h1>Releases</h1>${may("operator") && html`<a class="push" href=${href("workbench")}>New release in the workbench</a>`}</div>
    <${Filters} params=${params} />
    <${ProblemBox} problem=${found.problem.value} again=${found.again} />
    ${page && (page.data.length ? html`<${Page} page=${page} params=${params} />` : html`<${Nothing} params=${params} />`)}`;
}

/** @param {{params: Record<string, string>}} props */
function Filters({ params }) {
  const choose = (/** @type {string} */ name) => (/** @type {any} */ event) => go(href("releases", [], { ...params, after: "", [name]: event.target.value }));
  return html`<div class="row release-filters">${Object.entries(CHOICES).map(([name, choices]) => html`<label class="field" key=${name}>${name === "verdict" ? "Verdict" : "Status"}
    <select value=${params[name] || ""} onChange=${choose(name)}><option value="">any</option>${choices.map((choice) => html`<option value=${choice}>${choice}</option>`)}</select></label>`)}</div>`;
}

/** @param {{page: any, params: Record<string, string>}} props */
function Page({ page, params }) {
  const picked = (params.pick || "").split(",").filter(Boolean);
  const pick = (/** @type {string} */ id) => {
    const next = picked.includes(id) ? picked.filter((one) => one !== id) : [...picked, id].slice(-2);
    go(href("releases", [], { ...params, pick: next.join(",") }), { quiet: true });
  };
  const columns = [
    { name: "pick", title: "Compare", order: (/** @type {any} */ row) => picked.includes(row.id), show: (/** @type {any} */ _, /** @type {any} */ row) => html`<input type="checkbox" aria-label="Compare ${row.name || row.id}" checked=${picked.includes(row.id)} onChange=${() => pick(row.id)} />` },
    { name: "name", title: "Release", show: (/** @type {any} */ _, /** @type {any} */ row) => html`<a href=${href("releases", [row.id])}>${row.name || html`<span class="mono">${row.id}</span>`}</a>` },
    { name: "verdict", title: "Verdict", order: (/** @type {any} */ row) => row.verdict || row.status, show: (/** @type {any} */ value, /** @type {any} */ row) => html`<${GateBadge} verdict=${value || row.status} />${row.error && html` <code class="small">${row.error.code}</code>`}` },
    { name: "recipient", title: "Recipient" },
    { name: "purpose", title: "Purpose" },
    { name: "created_at", title: "Age", show: (/** @type {any} */ value) => html`<time datetime=${value} title=${moment(value)}>${age(value)}</time>` },
  ];
  return html`<div class="release-list"><${DataTable} caption="Releases" columns=${columns} rows=${page.data} keyOf=${(/** @type {any} */ row) => row.id} /></div>
    <div class="row" role="group" aria-label="Pages and comparison">
      ${picked.length === 2 ? html`<a class="as-button" href=${href("releases", ["compare"], { one: picked[0], other: picked[1] })}>Compare the two</a>` : html`<span class="small soft">Tick two releases to compare them${picked.length ? ": one more" : ""}.</span>`}
      <span class="push row">${params.after && html`<a href=${href("releases", [], { ...params, after: "" })}>◂ Newest</a>`}
      ${page.next && html`<a href=${href("releases", [], { ...params, after: page.next })}>Older ▸</a>`}</span>
    </div>`;
}

/** @param {{params: Record<string, string>}} props */
function Nothing({ params }) {
  if (params.status || params.verdict || params.after)
    return html`<${Empty} title="No release is like that"><p>Loosen the choice above, or <a href=${href("releases")}>see all releases</a>.</p><//>`;
  if (may("operator"))
    return html`<${Empty} title="Nothing was released yet"><p>Try a policy on a capture or a table in the <a href=${href("workbench")}>workbench</a>, and release it from there.</p><//>`;
  return html`<${Empty} title="Nothing was released to you yet"><p>Ask the operator for a release to your name, or for a capture to be opened to you.</p><//>`;
}
