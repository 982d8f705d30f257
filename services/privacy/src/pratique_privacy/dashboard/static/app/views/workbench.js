// @ts-check
/** Workbench: what each column is and what is done to it, and at once what that does to every figure and record. */
import { html, useEffect } from "../html.js";
import { useKeys } from "../keyboard.js";
import { Empty } from "../parts/empty.js";
import { ProblemBox } from "../parts/problem.js";
import { useResource } from "../resource.js";
import { href, route } from "../router.js";
import { Columns } from "./workbench/columns.js";
import { attend, bench, busy, follow, history, open, preview, problem } from "./workbench/desk.js";
import { Figures, Strip } from "./workbench/figures.js";
import { GateEditor } from "./workbench/gate.js";
import { Records } from "./workbench/records.js";
import { ReleaseForm } from "./workbench/release.js";
import { Suggestions } from "./workbench/suggestions.js";
import { TableSteps } from "./workbench/table_steps.js";
import { Toolbar } from "./workbench/toolbar.js";

export function Workbench() {
  const captures = useResource("/captures?limit=200");
  const datasets = useResource("/datasets?limit=200");
  const { params } = route.value;
  useKeys([
    { key: "u", does: "Undo", act: () => history.undo() },
    { key: "r", does: "Redo", act: () => history.redo() },
    { key: "Ctrl+Z", does: "Undo, also from within a list", act: () => history.undo() },
    { key: "Ctrl+Shift+Z", does: "Redo, also from within a list", act: () => history.redo() },
  ]);
  useEffect(attend, []);
  useEffect(() => void follow(params), [params.s, params.source]);
  const known = captures.body.value && datasets.body.value;
  const sources = known ? [...captures.body.value.data.filter((/** @type {any} */ one) => one.status === "ready" && one.records), ...datasets.body.value.data] : [];
  useEffect(() => {
    if (sources.length && !bench.peek() && !params.s && !params.source) open(sources[0].id);
  }, [sources.length]);
  if (known && !sources.length) return html`<h1>Workbench</h1><${NoSource} />`;
  return html`<div class="row"><h1>Workbench</h1><span class="small soft" role="status">${busy.value ? "Computing …" : ""}</span></div>
    <${Toolbar} sources=${sources} />
    ${bench.value && html`<div class="workbench">
      <${Strip} />
      <div class="workbench-left">
        <${ProblemBox} problem=${problem.value} />
        <${Suggestions} />
        <${Columns} />
        <${TableSteps} />
        <${Records} />
      </div>
      <aside class="workbench-right" aria-label="Figures, gate and release">
        <${Figures} stale=${!!problem.value || !preview.value} />
        <${GateEditor} />
        <${ReleaseForm} />
      </aside>
    </div>`}
    ${!bench.value && html`<${ProblemBox} problem=${problem.value} />`}
    <${ProblemBox} problem=${captures.problem.value || datasets.problem.value} again=${() => (captures.again(), datasets.again())} />`;
}

function NoSource() {
  return html`<${Empty} title="There is nothing on the bench">
    <p>A policy is tried on a capture or a table. Send one in under <a href=${href("captures")}>Captures</a>; it opens here once it is profiled.</p><//>`;
}
