// @ts-check
/** A metric: its name, before and after, whether that is better (shape and word), and its definition one click away. */
import { number, percent } from "../format.js";
import { html, useId, useState } from "../html.js";

/** @typedef {{name: string, title: string, better: "up" | "down" | "none", shown: "number" | "percent" | "count", definition: string}} MetricKind */

/** Every figure that the dashboard shows, in words; docs/science.md has the whole. @type {Record<string, MetricKind>} */
export const METRICS = {
  k: { name: "k", title: "k", better: "up", shown: "count", definition: "Size of the smallest class: how many records at least share their quasi-identifiers (k-anonymity)." },
  k_rw: { name: "k_rw", title: "k, record-weighted", better: "up", shown: "number", definition: "Mean size of the class that a record hides in: sum of squared class sizes divided by the records. It can be large beside a tail of unique records; read k and uniques with it." },
  l: { name: "l", title: "l", better: "up", shown: "count", definition: "Fewest distinct sensitive values in a class (l-diversity); empty values are not counted." },
  l_entropy: { name: "l_entropy", title: "l, entropy", better: "up", shown: "number", definition: "Exponential of the least Shannon entropy of the sensitive values in a class." },
  t: { name: "t", title: "t", better: "down", shown: "number", definition: "Greatest total variation between the sensitive values of a class and of the whole release (t-closeness); 0 is alike, 1 is apart." },
  t_ordered: { name: "t_ordered", title: "t, ordered", better: "down", shown: "number", definition: "The same as an earth mover's distance over ordered values." },
  ppi: { name: "ppi", title: "PPI", better: "up", shown: "number", definition: "Privacy-Posture Index: weighted sum of k and l against their targets and of 1 − t. A summary, no bound on what an adversary can do." },
  ppi_prime: { name: "ppi_prime", title: "PPI′", better: "up", shown: "number", definition: "PPI with the record-weighted k in place of k. It can hide a tail of unique records: read k and uniques with it." },
  exact_reid: { name: "exact_reid", title: "Exact re-identification", better: "down", shown: "percent", definition: "Classes divided by records: the mean chance to name a record for somebody who knows every quasi-identifier of it." },
  max_risk: { name: "max_risk", title: "Greatest risk", better: "down", shown: "percent", definition: "1/k: the chance for a record of the smallest class." },
  uniques: { name: "uniques", title: "Unique records", better: "down", shown: "count", definition: "Records that are alone in their class." },
  share_below_k: { name: "share_below_k", title: "Records below target k", better: "down", shown: "percent", definition: "Share of records in classes smaller than the target k." },
  classes: { name: "classes", title: "Classes", better: "none", shown: "count", definition: "Equivalence classes: groups of records with the same quasi-identifiers." },
  rows: { name: "rows", title: "Records", better: "none", shown: "count", definition: "Records in the table." },
  survival: { name: "survival", title: "Survival", better: "up", shown: "percent", definition: "Records that are released divided by records that came in." },
};

/** @param {number | null | undefined} value @param {"number" | "percent" | "count"} shown */
export function figure(value, shown) {
  return shown === "percent" ? percent(value) : number(value, shown === "count" ? 0 : 3);
}

/** One row of a `<dl class="metrics">`. @param {{kind: MetricKind, before?: number | null, after?: number | null, onlyAfter?: boolean, note?: any}} props */
export function MetricRow({ kind, before, after, onlyAfter = false, note }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const [shape, word, tone] = judged(kind.better, before, after);
  return html`<div class="metric" data-metric=${kind.name}>
    <dt><button type="button" aria-expanded=${open} aria-controls=${id} title="What this is" onClick=${() => setOpen(!open)}>${kind.title}</button></dt>
    <dd class="before soft">${onlyAfter ? "" : figure(before, kind.shown)}</dd>
    <dd class="soft" aria-hidden="true">${onlyAfter ? "" : "→"}</dd>
    <dd class="after">${figure(after, kind.shown)}</dd>
    <dd class="mark ${tone}">${note ?? (onlyAfter ? "" : html`<span aria-hidden="true">${shape}</span> ${word}`)}</dd>
    ${open && html`<dd class="definition" id=${id}>${kind.definition}</dd>`}
  </div>`;
}

/** @param {"up" | "down" | "none"} better @param {number | null | undefined} before @param {number | null | undefined} after */
function judged(better, before, after) {
  if (typeof before !== "number" || typeof after !== "number") return ["", "", "same"];
  if (Math.abs(after - before) < 1e-9) return ["=", "same", "same"];
  if (better === "none") return [after > before ? "▲" : "▼", after > before ? "more" : "fewer", "same"];
  const good = after > before === (better === "up");
  return [after > before ? "▲" : "▼", good ? "better" : "worse", good ? "better" : "worse"];
}
