// @ts-check
/** What is in a capture as charts: hosts by role, frames by protocol, the busiest hosts. */
import { getAll } from "../../api.js";
import { number } from "../../format.js";
import { html, useEffect, useMemo, useState } from "../../html.js";
import { Chart } from "../../parts/chart.js";
import { ProblemBox } from "../../parts/problem.js";
import { DataTable } from "../../parts/table.js";

const MOST = 5000; // hosts that the charts are made of
const BARS = 14;

/** @param {{id: string, hosts: number}} props */
export function CaptureCharts({ id, hosts }) {
  const [records, setRecords] = useState(/** @type {any[] | null} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  useEffect(() => {
    getAll(`/captures/${id}/records?unit=host`, MOST).then(setRecords, setProblem);
  }, [id]);
  const counted = useMemo(() => (records ? countsOf(records) : null), [records]);
  if (!records || !counted) return html`<${ProblemBox} problem=${problem} />`;
  const call = { method: "GET", path: `/captures/${id}/records?unit=host` };
  const part = hosts > records.length ? ` (of the first ${number(records.length)} hosts)` : "";
  return html`<div class="grid-2">
      <section class="panel"><${Chart} title="Hosts by role${part}" summary=${`${counted.roles.length} roles; most hosts are ${counted.roles[0]?.role ?? "none"}`}
        spec=${bars("role", "hosts", "Hosts")} rows=${counted.roles} columns=${[{ name: "role", title: "Role" }, { name: "hosts", title: "Hosts", number: true }]}
        height=${heightOf(counted.roles)} call=${call} /></section>
      <section class="panel"><${Chart} title="Packets by protocol${part}" summary=${`${counted.protocols.length} protocols; most packets are ${counted.protocols[0]?.protocol ?? "none"}`}
        spec=${bars("protocol", "packets", "Packets, each counted at both hosts")} rows=${counted.protocols}
        columns=${[{ name: "protocol", title: "Protocol" }, { name: "packets", title: "Packets", number: true }, { name: "hosts", title: "Hosts", number: true }]}
        height=${heightOf(counted.protocols)} call=${call} /></section>
    </div>
    <section class="panel"><header><h2>Hosts</h2></header>
      <${DataTable} caption="Hosts of the capture" rows=${records} keyOf=${(/** @type {any} */ row) => row.ip}
        columns=${[
          { name: "ip", title: "Address" },
          { name: "role", title: "Role", show: (/** @type {string} */ value, /** @type {any} */ row) => html`<span title=${row.role_evidence}>${value}</span>` },
          { name: "protocols", title: "Protocols" },
          { name: "packets", title: "Packets", number: true, show: (/** @type {number} */ value) => number(value) },
          { name: "bytes", title: "Bytes", number: true, show: (/** @type {number} */ value) => number(value) },
          { name: "peer_count", title: "Peers", number: true },
        ]} /></section>`;
}

/** @param {any[]} records */
function countsOf(records) {
  /** @type {Map<string, number>} */
  const roles = new Map();
  /** @type {Map<string, {packets: number, hosts: number}>} */
  const protocols = new Map();
  for (const record of records) {
    roles.set(record.role, (roles.get(record.role) || 0) + 1);
    for (const [name, packets] of Object.entries(record.protocol_packets || {})) {
      const sum = protocols.get(name) || { packets: 0, hosts: 0 };
      protocols.set(name, { packets: sum.packets + /** @type {number} */ (packets), hosts: sum.hosts + 1 });
    }
  }
  return {
    roles: [...roles].map(([role, hosts]) => ({ role, hosts })).sort((a, b) => b.hosts - a.hosts),
    protocols: [...protocols].map(([protocol, sum]) => ({ protocol, ...sum })).sort((a, b) => b.packets - a.packets),
  };
}

/** Bars, the longest first; the table beside them has those beyond the first few. @param {string} name @param {string} value @param {string} title */
function bars(name, value, title) {
  const y = { field: name, type: "nominal", sort: null, title: null };
  const x = { field: value, type: "quantitative", title, axis: { tickMinStep: 1, tickCount: 5 } };
  const order = [{ window: [{ op: "row_number", as: "place" }], sort: [{ field: value, order: "descending" }] }, { filter: `datum.place <= ${BARS}` }];
  return {
    transform: order,
    encoding: { y, x },
    layer: [{ mark: { type: "bar", height: { band: 0.75 } } }, { mark: { type: "text", align: "left", dx: 4 }, encoding: { text: { field: value, format: "," } } }],
  };
}

/** @param {any[]} rows */
function heightOf(rows) {
  return 50 + 20 * Math.min(rows.length, BARS);
}
