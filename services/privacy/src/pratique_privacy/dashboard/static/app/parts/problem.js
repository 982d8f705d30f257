// @ts-check
/** A problem box: what went wrong in plain words, what to do, and the code to look up or report. */
import { html } from "../html.js";

/** @param {{problem: any, again?: () => void}} props */
export function ProblemBox({ problem, again }) {
  if (!problem) return null;
  const code = problem.code || "page-mistake";
  return html`<div class="problem" role="alert">
    <strong>${problem.detail || problem.title || problem.message}</strong>
    ${problem.errors?.length > 0 && html`<ul>${problem.errors.map((/** @type {any} */ wrong) => html`<li><code>${wrong.pointer}</code> ${wrong.detail}</li>`)}</ul>`}
    <span class="small soft">Code <code>${code}</code>${problem.requestId && html`, request <code>${problem.requestId}</code>`}</span>
    ${again && html`<span><button type="button" onClick=${again}>Try again</button></span>`}
  </div>`;
}
