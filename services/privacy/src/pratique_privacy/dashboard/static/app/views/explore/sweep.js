// @ts-check
/** The answer of a sweep: its configurations compared, risk against survival, PPI against PPI', what follows. */
import { asNumber, asPercent, number, percent, plural } from "../../format.js";
import { html } from "../../html.js";
import { Facts } from "../../parts/facts.js";
import { DataTable } from "../../parts/table.js";
import { go, href, route } from "../../router.js";
import { Configurations } from "./configurations.js";
import { RiskSurvival } from "./risk_survival.js";
import { Indexes } from "./indexes.js";
import { MEASURES, measureNamed, riskOf, scopesOf } from "./measures.js";
import { useSources } from "./sources.js";

/** @param {{study: any}} props */
export function SweepAnswer({ study }) {
  const { rest, params } = route.value;
  const { named } = useSources();
  const measure = measureNamed(params.risk);
  const scopes = scopesOf(study.averages);
  const group = scopes.includes(params.group) ? params.group : "";
  const change = (/** @type {Record<string, string>} */ next) => go(href("explore", rest, { ...params, ...next }), { quiet: true });
  const failed = study.releases.filter((/** @type {any} */ one) => one.error);
  const empty = [...new Set(study.releases.filter((/** @type {any} */ one) => !one.error && one.rows === 0).map((/** @type {any} */ one) => one.configuration))];
  return html`<${Asked} study=${study} named=${named} />
    <div class="row"><label class="field">Risk is that of<select value=${measure.name} onChange=${(/** @type {any} */ event) => change({ risk: event.target.value })}>${MEASURES.map(({ name, title }) => html`<option value=${name}>${title}</option>`)}</select></label>
      ${scopes.length > 0 && html`<label class="field">Releases of<select value=${group} onChange=${(/** @type {any} */ event) => change({ group: event.target.value })}><option value="">all groups</option>${scopes.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`}</div>
    ${failed.length > 0 && html`<p class="note"><strong>${plural(failed.length, "release has", "releases have")} no figures</strong> and stand in no mean: ${failed.map((/** @type {any} */ one) => html`<span>${one.configuration} of ${named(one.source)} <code>${one.error}</code> </span>`)}</p>`}
    ${empty.length > 0 && html`<p class="note">No record is left under ${empty.join(", ")} of some source: such a release has no figures and stands in no mean.</p>`}
    <div class="grid-2"><${RiskSurvival} study=${study} measure=${measure} group=${group} named=${named} /><${Configurations} study=${study} measure=${measure} group=${group} /></div>
    <${Indexes} study=${study} measure=${measure} group=${group} named=${named} />
    <${Findings} study=${study} />
    <${Members} study=${study} named=${named} />`;
}

/** @param {{study: any, named: (id: string) => string}} props */
function Asked({ study, named }) {
  const { asked } = study;
  if (!asked) return null;
  const sources = asked.sources.length > 4 ? `${number(asked.sources.length)} sources` : asked.sources.map(named).join(", ");
  return html`<section class="panel" aria-label="What was asked"><${Facts} facts=${[["Sources", sources], ["Configurations", asked.configurations.join(", ")], ["Releases", number(study.releases.length)], ["A row is", asked.unit === "session" ? "a session" : "a host, or a row of a table"], ["Repetitions, seed", `${number(asked.attacks?.repetitions)}, ${asked.seed}`]]} /></section>`;
}

/** Statements of the paper, held against this sweep. */
const STATEMENTS = /** @type {Record<string, string>} */ ({
  pseudonyms_change_nothing: "Pseudonyms alone change no figure: C1 equals C0",
  c4_and_c6_lowest: "C4 and C6 have the two lowest risks of all configurations here",
  ppi_prime_correlates_more: "PPI′ goes along with resistance more than PPI",
});

/** @param {{study: any}} props */
function Findings({ study }) {
  /** @type {Map<string, any>} */
  const seen = new Map();
  for (const one of study.findings) {
    const key = `${one.finding}|${one.group}`;
    const known = seen.get(key) || { statement: STATEMENTS[one.finding] || one.finding, of: one.group || "all" };
    const held = one.measure ? { [one.measure]: one.holds } : Object.fromEntries(MEASURES.map(({ name }) => [name, one.holds]));
    seen.set(key, { ...known, ...held });
  }
  const rows = [...seen.values()];
  if (!rows.length) return null;
  const verdict = (/** @type {boolean | null} */ holds) => html`<span class="mark ${holds ? "better" : holds === false ? "worse" : "same"}"><span aria-hidden="true">${holds ? "✔" : holds === false ? "✖" : "○"}</span> ${holds ? "holds" : holds === false ? "does not hold" : "cannot be told"}</span>`;
  return html`<section class="panel" aria-labelledby="findings"><h2 id="findings">Do the paper's findings hold here?</h2>
    <${DataTable} caption="Findings" rows=${rows} columns=${[{ name: "statement", title: "Statement" }, { name: "of", title: "Releases" }, ...MEASURES.map(({ name, short }) => ({ name, title: short, show: verdict }))]} /></section>`;
}

/** @param {{study: any, named: (id: string) => string}} props */
function Members({ study, named }) {
  const rows = study.releases.map((/** @type {any} */ one) => ({ ...one, source: named(one.source) }));
  const columns = [
    { name: "configuration", title: "Configuration" },
    { name: "source", title: "Source" },
    ...(rows.some((/** @type {any} */ one) => one.group) ? [{ name: "group", title: "Group" }] : []),
    { name: "rows", title: "Records", number: true, show: asNumber },
    { name: "survival", title: "Survival", number: true, show: asPercent },
    { name: "k", title: "k", number: true, show: asNumber },
    { name: "l", title: "l", number: true, show: asNumber },
    { name: "t", title: "t", number: true, show: asNumber },
    { name: "ppi", title: "PPI", number: true, show: asNumber },
    { name: "ppi_prime", title: "PPI′", number: true, show: asNumber },
    ...MEASURES.map(({ row, short }) => ({ name: row, title: short, number: true, order: (/** @type {any} */ one) => riskOf(one, row), show: (/** @type {any} */ _, /** @type {any} */ one) => percent(riskOf(one, row)) })),
  ];
  return html`<section class="panel" aria-labelledby="members"><h2 id="members">Its releases</h2><${DataTable} caption="Releases of the sweep" columns=${columns} rows=${rows} keyOf=${(/** @type {any} */ one) => one.release} /></section>`;
}
