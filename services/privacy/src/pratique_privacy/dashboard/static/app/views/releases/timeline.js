// @ts-check
/** The life of a release: one line a fact, with its time, and what is being done now. */
import { moment, number, percent, plural } from "../../format.js";
import { html } from "../../html.js";
import { Progress } from "../../parts/progress.js";

/** @typedef {{state: "done" | "now" | "next" | "wrong", title: string, at?: string, told?: any}} Event */

const SHAPES = { done: ["●", "done"], now: ["◔", "under way"], next: ["○", "to come"], wrong: ["✖", "ended here"] };

/** @param {{release: any, posture: any}} props */
export function Timeline({ release, posture }) {
  const events = eventsOf(release, posture);
  return html`<section class="panel" aria-labelledby="life"><h2 id="life">Life of this release</h2>
    <ol class="timeline" aria-live="polite">${events.map((event, place) => html`<li key=${place} class=${event.state}>
      <span class="shape" aria-hidden="true">${SHAPES[event.state][0]}</span>
      <div><strong>${event.title}</strong><span class="hidden-text"> (${SHAPES[event.state][1]})</span>${event.told && html`<div class="small soft">${event.told}</div>`}</div>
      <span class="small soft number">${when(event.at, events.slice(0, place).findLast((earlier) => earlier.at)?.at)}</span>
    </li>`)}</ol>
  </section>`;
}

/** @param {any} release @param {any} posture @returns {Event[]} */
function eventsOf(release, posture) {
  const { moments, status, progress } = release;
  const over = Boolean(moments.ended);
  const state = (/** @type {string | undefined} */ at, /** @type {boolean} */ reached) => /** @type {Event["state"]} */ (at ? "done" : over || !reached ? "next" : "now");
  /** @type {Event[]} */
  const events = [
    { state: "done", title: "Asked for", at: moments.requested, told: release.recipient && `for ${release.recipient}` },
    { state: state(moments.resolved, true), title: moments.resolved ? "Sources found" : "Waiting for the source", at: moments.resolved, told: sources(posture) },
    { state: state(moments.measured, Boolean(moments.resolved)), title: moments.measured ? "Policy applied and measured" : "Measuring", at: moments.measured, told: records(posture) },
  ];
  if (status === "failed" || status === "cancelled") {
    const reached = events.filter((event) => event.at);
    const told = release.error ? html`with the code <code>${release.error.code}</code>; what to do is said above` : "Nothing leaves; ask for a new release if it is still needed.";
    return [...reached, { state: "wrong", title: status === "failed" ? "Failed" : "Cancelled", at: moments.ended, told }];
  }
  return [...events, attacking(release, posture), outcome(release, progress)];
}

/** @param {any} release @param {any} posture @returns {Event} */
function attacking(release, posture) {
  const { moments, progress } = release;
  if (moments.ended) return { state: "done", title: posture && !posture.attacks ? "No adversary was asked for" : "Adversaries run", told: progress.total > 0 && plural(progress.total, "shard") };
  const told = moments.measured && progress.total > 0 && html`<${Progress} label="Shards of the adversaries" share=${progress.done / progress.total} words="${number(progress.done)} of ${number(progress.total)}" />`;
  const through = moments.measured && progress.done === progress.total;
  return { state: through ? "done" : moments.measured ? "now" : "next", title: through ? "Adversaries run" : "Adversaries", told };
}

/** @param {any} release @param {any} progress @returns {Event} */
function outcome({ moments, verdict }, progress) {
  if (!moments.ended) return { state: progress.stage === "publishing" ? "now" : "next", title: "Gate" };
  const released = verdict === "pass";
  return { state: released ? "done" : "wrong", title: released ? "Gate passed: released" : "Gate not passed: nothing leaves", at: moments.ended, told: released ? "files written, read back and certified" : undefined };
}

/** @param {any} posture */
function sources(posture) {
  return posture?.sources.length ? html`<span class="mono">${posture.sources.join(", ")}</span>` : undefined;
}

/** @param {any} posture */
function records(posture) {
  if (!posture) return undefined;
  const { in: before, out, survival } = posture.records;
  return `${plural(before, "record")} in, ${number(out)} out${survival === null ? "" : ` (${percent(survival)} survive)`}`;
}

/** The first time whole, each later one as what passed since. @param {string | undefined} at @param {string | undefined} before */
function when(at, before) {
  if (!at) return "";
  if (!before) return html`<time datetime=${at}>${moment(at)}</time>`;
  const seconds = Math.max(0, (Date.parse(at) - Date.parse(before)) / 1000);
  const passed = seconds < 120 ? `${number(seconds, 1)} s` : seconds < 7200 ? `${number(Math.round(seconds / 60))} min` : `${number(Math.round(seconds / 3600))} h`;
  return html`<time datetime=${at} title=${moment(at)}>+ ${passed}</time>`;
}
