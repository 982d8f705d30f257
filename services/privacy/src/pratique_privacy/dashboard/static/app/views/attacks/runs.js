// @ts-check
/** Runs of further adversaries: how far each is, and which of them stand in the chart. */
import { follow, get, send } from "../../api.js";
import { age, moment, number } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { useResource } from "../../resource.js";
import { go, href, route } from "../../router.js";
import { may } from "../../session.js";
import { labelOf } from "./rows.js";

const OVER = ["completed", "failed", "cancelled"];

/** The runs of a release with their answers as they come in. @param {string | null} id */
export function useRuns(id) {
  const path = id && `/releases/${id}/attacks`;
  const listed = useResource(path);
  const [answers, setAnswers] = useState(/** @type {Record<string, any>} */ ({}));
  const runs = listed.body.value?.data || [];
  const going = listed.problem.value ? undefined : runs.find((/** @type {any} */ run) => !OVER.includes(run.status))?.id;
  // One at a time: a browser holds few connections to a service, and each event has the whole list looked up.
  useEffect(() => (going ? follow(`${path}/${going}/events`, listed.again, listed.again) : undefined), [path, going]);
  const owed = runs.filter((/** @type {any} */ run) => run.status === "completed" && !answers[run.id]).map((/** @type {any} */ run) => run.id).join();
  useEffect(() => {
    if (!owed) return undefined;
    const stop = new AbortController();
    const load = async () => {
      const found = await Promise.all(owed.split(",").map((/** @type {string} */ run) => get(`${path}/${run}`, { signal: stop.signal })));
      setAnswers((known) => ({ ...known, ...Object.fromEntries(found.map((run) => [run.id, run])) }));
    };
    load().catch((error) => !stop.signal.aborted && (listed.problem.value = error));
    return () => stop.abort();
  }, [owed]);
  const stop = (/** @type {string} */ run) => send("POST", `${path}/${run}/cancel`).then(listed.again, (error) => (listed.problem.value = error));
  return { stop, found: runs.map((/** @type {any} */ run) => answers[run.id] || run), problem: listed.problem.value, again: listed.again };
}

/** @param {{runs: any, hidden: string[]}} props */
export function RunList({ runs, hidden }) {
  const { rest, params } = route.value;
  const toggle = (/** @type {string} */ id) => {
    const next = hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id];
    go(href("attacks", rest, { ...params, hide: next.filter(Boolean).join(",") }), { quiet: true });
  };
  return html`<section class="panel" aria-labelledby="runs"><h2 id="runs">Further runs</h2>
    <${ProblemBox} problem=${runs.problem} again=${runs.again} />
    ${runs.found.length ? html`<ul class="runs plain" aria-live="polite">${runs.found.map((/** @type {any} */ run) => html`<${Run} key=${run.id} run=${run} shown=${!hidden.includes(run.id)} toggle=${() => toggle(run.id)} stop=${() => runs.stop(run.id)} />`)}</ul>`
      : html`<p class="soft">None yet. What if the adversary forgets less, or is wrong less often?</p>`}
  </section>`;
}

/** @param {{run: any, shown: boolean, toggle: () => void, stop: () => void}} props */
function Run({ run, shown, toggle, stop }) {
  const { done, total } = run.progress;
  const names = run.attacks && /** @type {("partial_qi" | "linkage")[]} */ (["partial_qi", "linkage"]).filter((name) => run.attacks[name]);
  const words = names?.map((/** @type {"partial_qi" | "linkage"} */ name) => labelOf(name, run.attacks[name].parameters)).join("; ");
  const first = names?.length && run.attacks[names[0]];
  return html`<li>
    <label class="row"><input type="checkbox" checked=${shown} disabled=${!run.attacks} aria-label="In the chart: ${words || run.id}" onChange=${toggle} /><span>${words || html`<span class="mono">${run.id}</span>`}</span></label>
    <span class="small soft">${first && `${number(first.repetitions)} repetitions, seed ${first.seed}, `}<time datetime=${run.created_at} title=${moment(run.created_at)}>${age(run.created_at)}</time></span>
    ${!OVER.includes(run.status) && html`<${Progress} label="Shards in" share=${total ? done / total : null} words=${total ? `${done} of ${total}` : ""} />`}
    ${run.status !== "completed" && html`<span class="row"><${GateBadge} verdict=${run.status} />${!OVER.includes(run.status) && may("operator") && html`<button type="button" class="danger small" aria-label="Cancel ${words || run.id}" onClick=${stop}>Cancel</button>`}</span>`}
    ${run.error && html`<${ProblemBox} problem=${run.error} />`}
  </li>`;
}
