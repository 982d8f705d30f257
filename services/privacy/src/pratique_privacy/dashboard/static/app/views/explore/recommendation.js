// @ts-check
/** The answer of a recommendation: the policy of least loss, and the front of risk against loss that it lies on. */
import { asNumber, asPercent, number, percent, plural } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { Chart } from "../../parts/chart.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { Empty } from "../../parts/empty.js";
import { Facts } from "../../parts/facts.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { figure, METRICS } from "../../parts/metric.js";
import { go, href, route } from "../../router.js";
import { may } from "../../session.js";
import { pack } from "../../state.js";
import { repaint, token } from "../../theme.js";
import { stepWords } from "../releases/words.js";
import { held, under } from "../workbench/bench.js";
import { useSources } from "./sources.js";

const AXES = /** @type {[string, string][]} */ ([["survival", "records that survive"], ["entropy", "information lost"]]);
const RISKS = /** @type {[string, string][]} */ ([["exact_reid", "exact re-identification"], ["partial_qi", "partial-QI adversary"]]);
const SHOWN = ["k", "k_rw", "l", "t", "uniques", "exact_reid", "survival"];

/** @param {{study: any}} props */
export function RecommendationAnswer({ study }) {
  const { params } = route.value;
  const { named } = useSources();
  const best = study.recommended;
  const at = params.at === undefined || !study.front[Number(params.at)] ? null : Number(params.at);
  const { search, asked } = study;
  return html`${asked && html`<section class="panel" aria-label="What was asked"><${Facts} facts=${[
      ["Source", asked.source ? named(asked.source.capture || asked.source.dataset || asked.source.captures?.join(", ") || "") : "records sent along"], ["Quasi-identifiers", asked.attributes.quasi_identifiers.join(", ")],
      ["Gate", gateWords(asked.gate)], ["Searched", `${number(search.evaluated)} of ${number(search.nodes)} choices of levels${search.ruled_out ? `, ${number(search.ruled_out)} ruled out` : ""}`]]} /></section>`}
    ${!best && html`<${Empty} title="Nothing in the search passes this gate"><p>Loosen a bound, take a quasi-identifier out or drop a column, and ask again. The front below says what can be had.</p><//>`}
    ${best && html`<${Found} title="Recommended" found=${best} asked=${asked} about=${`${study.proved ? "Nothing else that was searched passes at a smaller loss." : `Least loss found before the ${search.cut === "seconds" ? "time" : "number of choices"} ran out.`}${study.not_held.length ? ` Not held: ${study.not_held.join(", ")}.` : ""}`} />`}
    <${Front} study=${study} at=${at} />
    ${at !== null && html`<${Found} key=${at} title="Chosen on the front" found=${study.front[at]} asked=${asked} about="" />`}`;
}

/** A policy that was found: its figures, its steps, and the way to the workbench. @param {{title: string, found: any, asked: any, about: string}} props */
function Found({ title, found, asked, about }) {
  const steps = found.policy.steps;
  const whole = steps.every((/** @type {any} */ step) => step.op !== "hierarchy" || step.table);
  const passes = asked && verdictOf(asked.gate, found.predicted);
  return html`<section class="panel" aria-label=${title}><header><h2>${title}</h2>${passes && html`<${GateBadge} verdict=${passes} />`}
      ${may("operator") && asked?.source && whole && html`<${ToWorkbench} asked=${asked} policy=${found.policy} />`}<${CopyMenu} policy=${found.policy} /></header>
    ${about && html`<p class="small soft">${about}</p>`}
    <dl class="quick">${SHOWN.map((name) => html`<div key=${name}><dt>${METRICS[name].title}</dt><dd>${figure(found.predicted[name], METRICS[name].shown)}</dd></div>`)}
      <div><dt>Information lost</dt><dd>${percent(found.loss.entropy)}</dd></div></dl>
    <details class="steps-found"><summary>${plural(steps.length, "step")}</summary><ol class="policy-steps">${steps.map((/** @type {any} */ step) => html`<li><code>${stepWords(step)}</code></li>`)}</ol></details>
    ${!whole && html`<p class="small soft">A hierarchy of this policy is too long to be shown with the front: ask for a recommendation with this gate to have it whole.</p>`}</section>`;
}

/** @param {{asked: any, policy: any}} props */
function ToWorkbench({ asked, policy }) {
  const [address, setAddress] = useState("");
  const key = JSON.stringify(policy);
  useEffect(() => {
    const { source, attributes, gate, ppi, pilot } = asked;
    const classes = Object.fromEntries(Object.values(attributes).flatMap((list) => (Array.isArray(list) ? list.map((column) => [column, "drop"]) : [])));
    const empty = { source: source.dataset || source.capture, unit: source.unit || "host", pilot, classes, steps: [], bins: {}, ordered: {}, ppi: { k_target: 5, l_target: 2 }, gate: {} };
    const plain = Object.fromEntries(Object.entries(gate).map(([name, bound]) => [name, Object.fromEntries(Object.entries(/** @type {any} */ (bound)).filter(([, limit]) => limit !== null))]));
    const bench = under(/** @type {any} */ (empty), { ...policy, attributes, gate: plain, ppi });
    if (empty.source) pack(bench).then((text) => setAddress(href("workbench", [], { s: text })));
  }, [key]);
  return address && html`<a class="as-button primary" href=${address}>Open in the workbench</a>`;
}

/** @param {{study: any, at: number | null}} props */
function Front({ study, at }) {
  repaint.value; // the colours below follow the theme
  const { rest, params } = route.value;
  const axis = AXES.find(([name]) => name === params.x) || AXES[0];
  const risk = RISKS.find(([name]) => name === params.risk) || RISKS[0];
  const best = study.recommended && JSON.stringify(study.recommended.policy);
  const rows = study.front.map((/** @type {any} */ found, /** @type {number} */ place) => ({
    place, k: found.predicted.k, uniques: found.predicted.uniques, survival: found.predicted.survival, entropy: found.loss.entropy, exact_reid: found.predicted.exact_reid, partial_qi: found.predicted.partial_qi,
    gate: best === JSON.stringify(found.policy) ? "recommended" : study.asked && verdictOf(study.asked.gate, found.predicted) === "pass" ? "passes the gate" : "does not pass", chosen: place === at,
  }));
  if (study.recommended && !rows.some((/** @type {any} */ row) => row.gate === "recommended")) {
    const { predicted, loss } = study.recommended; // thinned out of the front that is shown
    rows.push({ place: null, k: predicted.k, uniques: predicted.uniques, survival: predicted.survival, entropy: loss.entropy, exact_reid: predicted.exact_reid, partial_qi: predicted.partial_qi, gate: "recommended", chosen: false });
  }
  const change = (/** @type {Record<string, string>} */ next) => go(href("explore", rest, { ...params, ...next }), { quiet: true });
  const pick = (/** @type {any} */ datum) => datum.place !== null && datum.place !== undefined && change({ at: String(datum.place) });
  const step = (/** @type {number} */ by) => change({ at: String(Math.min(study.front.length - 1, Math.max(0, (at ?? -1) + by))) });
  const columns = [{ name: "gate", title: "Gate" }, { name: "k", title: "k", number: true, show: asNumber }, { name: "uniques", title: "Unique records", number: true, show: asNumber }, { name: "survival", title: "Survival", number: true, show: asPercent },
    { name: "entropy", title: "Information lost", number: true, show: asPercent }, { name: "exact_reid", title: "Exact re-identification", number: true, show: asPercent }, { name: "partial_qi", title: "Partial-QI adversary", number: true, show: asPercent }];
  return html`<section class="panel"><${Chart} title="Risk against ${axis[0] === "survival" ? "survival" : "information lost"} along the Pareto front" rows=${rows} columns=${columns} height=${320} spec=${specOf(axis, risk)} choose=${pick}
      call=${{ method: "GET", path: `/recommendations/${study.id}` }} summary="${plural(rows.length, "policy", "policies")}, ${rows.filter((/** @type {any} */ row) => row.gate !== "does not pass").length} of them pass the gate" />
    <div class="row"><label class="field inline">Along<select value=${axis[0]} onChange=${(/** @type {any} */ event) => change({ x: event.target.value })}>${AXES.map(([name, title]) => html`<option value=${name}>${title}</option>`)}</select></label>
      <label class="field inline">Risk<select value=${risk[0]} onChange=${(/** @type {any} */ event) => change({ risk: event.target.value })}>${RISKS.map(([name, title]) => html`<option value=${name}>${title}</option>`)}</select></label>
      <span class="row push"><button type="button" disabled=${at === 0} onClick=${() => step(-1)}>◂ Less coarse</button><button type="button" disabled=${at === study.front.length - 1} onClick=${() => step(1)}>Coarser ▸</button></span></div>
    <p class="small soft">No policy that was searched has both less risk and less loss than one of these${study.front_size > study.front.length ? ` (${study.front.length} of ${number(study.front_size)} are shown)` : ""}. Choose a point, or go along with the buttons, to see its policy.</p></section>`;
}

/** @param {[string, string]} axis @param {[string, string]} risk */
function specOf(axis, risk) {
  const states = ["recommended", "passes the gate", "does not pass"];
  const colours = [token("--chart-2"), token("--chart-1"), token("--ink-soft")];
  const x = { field: axis[0], type: "quantitative", scale: { domain: [0, 1] }, axis: { format: ".0%", title: axis[1], tickCount: 6 } };
  const y = { field: risk[0], type: "quantitative", scale: { domain: [0, 1] }, axis: { format: ".0%", title: risk[1], tickCount: 6 } };
  const line = axis[0] === "entropy" ? [{ mark: { type: "line", strokeWidth: 1.5, opacity: 0.5, color: colours[2] }, encoding: { order: { field: "entropy", type: "quantitative" } } }] : [];
  return {
    encoding: { x, y },
    layer: [...line,
      { transform: [{ filter: "datum.chosen" }], mark: { type: "point", size: 420, strokeWidth: 2, color: token("--ink") } },
      { mark: { type: "point", strokeWidth: 2, opacity: 1, cursor: "pointer" }, encoding: {
        size: { condition: { test: "datum.gate === 'recommended'", value: 200 }, value: 70 },
        shape: { field: "gate", type: "nominal", scale: { domain: states, range: ["diamond", "circle", "cross"] }, title: null },
        fill: { field: "gate", type: "nominal", scale: { domain: states, range: [colours[0], colours[1], "transparent"] }, title: null },
        stroke: { field: "gate", type: "nominal", scale: { domain: states, range: colours }, title: null } } }],
  };
}

/** @param {any} gate @param {any} predicted */
function verdictOf(gate, predicted) {
  const checks = held(gate, (metric) => predicted[metric]);
  return checks.some((check) => check.status === "fail") ? "fail" : checks.some((check) => check.status === "indeterminate") ? "indeterminate" : "pass";
}

/** @param {any} gate */
export function gateWords(gate) {
  const bounds = held(gate, () => null).map(({ metric, sign, limit }) => `${METRICS[metric]?.title || metric} ${sign} ${number(limit)}`);
  return bounds.join(", ") || "no bound";
}
