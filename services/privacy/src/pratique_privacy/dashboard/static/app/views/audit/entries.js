// @ts-check
/** The entries of the log, newest first, filtered and paged by the address. */
import { getSome } from "../../api.js";
import { moment, number, plural } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { Empty } from "../../parts/empty.js";
import { ExportMenu } from "../../parts/export_menu.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { DataTable } from "../../parts/table.js";
import { go, href, route } from "../../router.js";

const PAGE = 50;
const STEP = 5000; // entries that are read at once to be filtered here: the API gives them in pages and unfiltered
const HEARD = { phase: "Phase", role: "Role", operation: "Operation", outcome: "Outcome" };

/** @type {import("../../parts/table.js").Column[]} */
const COLUMNS = [
  { name: "at", title: "When", show: (/** @type {string} */ value) => html`<time datetime=${value} title=${value}>${moment(value, "medium")}</time>` },
  { name: "phase", title: "Phase" },
  { name: "operation", title: "Operation", show: (/** @type {string | null} */ value, /** @type {any} */ row) => value || (row.phase === "opened" ? "chain begun" : "–") },
  { name: "object", title: "Object", show: (/** @type {string | null} */ value) => objectOf(value) },
  { name: "outcome", title: "Outcome", show: (/** @type {string} */ value, /** @type {any} */ row) => (row.status ? `${row.status}, ${value}` : value) },
  { name: "role", title: "Role" },
  { name: "key", title: "Key", show: (/** @type {string | null} */ value) => (value ? html`<span class="mono" title=${value}>…${value.slice(-6)}</span>` : "–") },
  { name: "number", title: "Entry", number: true, show: (/** @type {number} */ value, /** @type {any} */ row) => html`<span class="mono" title="Chain ${row.chain}">…${row.chain.slice(-6)}/${value}</span>` },
];

export function Entries() {
  const { params } = route.value;
  const [read, setRead] = useState(/** @type {{all: any[], next: string} | null} */ (null));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const look = async (/** @type {{all: any[], next: string}} */ from) => {
    setProblem(null);
    setBusy(true);
    try {
      const { found, next } = await getSome("/audit", STEP, from.next);
      setRead({ all: [...from.all, ...found.map((one) => ({ ...one, outcome: outcomeOf(one) }))], next });
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  const again = () => void look({ all: [], next: "" });
  useEffect(again, []);
  const change = (/** @type {Record<string, string>} */ next) => go(href("audit", [], { ...params, page: "", ...next }), { quiet: true });
  if (!read) return problem ? html`<${ProblemBox} problem=${problem} again=${again} />` : html`<${Progress} label="Reading the log" />`;
  const { all, next } = read;
  const rows = all.filter((row) => fits(row, params));
  const pages = Math.max(1, Math.ceil(rows.length / PAGE));
  const page = Math.min(pages, Math.max(1, Number(params.page) || 1));
  return html`<section class="panel audit-entries" aria-labelledby="entries"><header><h2 id="entries">Entries</h2><button type="button" disabled=${busy} onClick=${again}>Read again</button>
      <${ExportMenu} name="audit" columns=${[...COLUMNS, { name: "chain" }, { name: "request" }, { name: "hash" }]} rows=${rows} /><${CopyMenu} call=${{ method: "GET", path: "/audit?limit=100" }} /></header>
    <div class="row audit-filters"><label class="field grow">Object, key, chain or request holds<input type="search" data-search value=${params.text || params.chain || ""} onInput=${(/** @type {any} */ event) => change({ text: event.target.value, chain: "" })} /></label>
      ${Object.entries(HEARD).map(([name, title]) => html`<label class="field" key=${name}>${title}<select value=${params[name] || ""} onChange=${(/** @type {any} */ event) => change({ [name]: event.target.value })}><option value="">any</option>${choicesOf(all, name).map((choice) => html`<option value=${choice}>${choice}</option>`)}</select></label>`)}</div>
    ${next && html`<div class="note"><p>Filters, pages and export know the <strong>newest ${number(all.length)}</strong> entries, back to ${moment(all.at(-1)?.at)}. There are older ones.</p>
      <span><button type="button" disabled=${busy} onClick=${() => look(read)}>${busy ? "Reading …" : "Look further back"}</button></span><${ProblemBox} problem=${problem} /></div>`}
    ${rows.length ? html`<${DataTable} caption="Entries of the audit log" columns=${COLUMNS} rows=${rows.slice((page - 1) * PAGE, page * PAGE)} keyOf=${(/** @type {any} */ row) => `${row.chain}/${row.number}`} />
        <div class="row" role="group" aria-label="Pages"><span class="small soft">${plural(rows.length, "entry", "entries")}${rows.length < all.length ? ` of ${number(all.length)}` : ""}</span>
          <span class="push row"><button type="button" disabled=${page === 1} onClick=${() => change({ page: String(page - 1) })}>◂ Newer</button><span class="small">page ${page} of ${pages}</span><button type="button" disabled=${page === pages} onClick=${() => change({ page: String(page + 1) })}>Older ▸</button></span></div>`
      : html`<${Empty} title=${all.length ? "No entry is like that" : "Nothing was done yet"}><p>${all.length ? html`Loosen the choice above${next ? ", look further back," : ""} or <a href=${href("audit")}>see all entries</a>.` : "Changes, and readings of records and identifiers, are written here as they happen."}</p><//>`}</section>`;
}

/** @param {any} row */
function outcomeOf(row) {
  if (row.phase !== "answered") return "–";
  if (row.status === null) return "no answer";
  return row.status < 400 ? "done" : "refused";
}

/** @param {any[]} rows @param {string} name @returns {string[]} */
function choicesOf(rows, name) {
  return [...new Set(rows.map((row) => row[name]).filter((value) => value && value !== "–"))].sort();
}

/** @param {any} row @param {Record<string, string>} params */
function fits(row, params) {
  const text = (params.text || params.chain || "").toLowerCase();
  const within = !text || [row.object, row.key, row.chain, row.request].some((value) => (value || "").toLowerCase().includes(text));
  return within && Object.keys(HEARD).every((name) => !params[name] || row[name] === params[name]);
}

/** @param {string | null} value */
function objectOf(value) {
  if (!value) return "–";
  const view = /** @type {Record<string, string>} */ ({ rel: "releases", cap: "captures", dst: "captures" })[value.slice(0, 3)];
  const id = value.split(/[/ ]/)[0];
  return view && id === value ? html`<a class="mono" href=${href(view, [value])}>${value}</a>` : html`<span class="mono broken">${value}</span>`;
}
