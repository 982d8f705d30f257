// @ts-check
/** One table of the user's own: its columns. */
import { moment, number } from "../../format.js";
import { html } from "../../html.js";
import { Facts } from "../../parts/facts.js";
import { ProblemBox } from "../../parts/problem.js";
import { DataTable } from "../../parts/table.js";
import { useResource } from "../../resource.js";
import { SourceActions } from "./actions.js";
import { nameOf } from "./list.js";

/** @param {{id: string, gone: () => void}} props */
export function DatasetDetail({ id, gone }) {
  const dataset = useResource(`/datasets/${id}`);
  const found = dataset.body.value;
  if (!found) return html`<${ProblemBox} problem=${dataset.problem.value} again=${dataset.again} />`;
  /** @type {[string, any][]} */
  const facts = [
    ["Rows", number(found.rows)],
    ["Columns", number(found.columns.length)],
    ["Pilot", found.pilot || "none"],
    ["Open to", found.open_to.join(", ") || "nobody"],
    ["Sent in", moment(found.created_at)],
    ["Id", html`<code>${found.id}</code>`],
  ];
  return html`<section class="panel" aria-label="Table">
    <header><h2>${nameOf(found)}</h2><${SourceActions} kind="datasets" id=${id} ready gone=${gone} /></header>
    <${Facts} facts=${facts} />
    <${DataTable} caption="Columns of the table" rows=${found.columns} columns=${[{ name: "name", title: "Column" }, { name: "type", title: "Type" }]} />
  </section>`;
}
