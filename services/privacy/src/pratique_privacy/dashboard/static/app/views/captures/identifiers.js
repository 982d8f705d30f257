// @ts-check
/** Identifiers of subscribers in a capture: looked up when asked for, and masked until asked for once more. */
import { get } from "../../api.js";
import { masked, number } from "../../format.js";
import { html, useState } from "../../html.js";
import { ProblemBox } from "../../parts/problem.js";
import { DataTable } from "../../parts/table.js";
import { Tabs } from "../../parts/tabs.js";

const KINDS = /** @type {Record<string, string>} */ ({
  imsi: "IMSI",
  suci: "SUCI",
  guti: "5G-GUTI",
  guti_4g: "4G GUTI",
  s_tmsi: "S-TMSI",
  msisdn: "MSISDN",
  imei: "IMEI",
});

/** @param {{id: string}} props */
export function Identifiers({ id }) {
  const [found, setFound] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const look = () => get(`/captures/${id}/identifiers`).then(setFound, setProblem);
  return html`<section class="panel" aria-label="Identifiers"><header><h2>Identifiers</h2></header>
    ${found
      ? html`<${Kinds} found=${found} />`
      : html`<div class="row"><p>IMSI, SUCI, GUTI, MSISDN and IMEI that anybody with this capture could read. Looking at them is written to the audit log.</p>
          <button type="button" onClick=${look}>Look for identifiers</button></div>`}
    <${ProblemBox} problem=${problem} again=${look} />
  </section>`;
}

/** @param {{found: any}} props */
function Kinds({ found }) {
  const kinds = Object.keys(KINDS).filter((kind) => found[kind]?.length);
  const [kind, setKind] = useState(kinds[0] || "");
  const [open, setOpen] = useState(false);
  if (!kind) return html`<p>None was found in clear.</p>`;
  const tabs = kinds.map((name) => ({ name, title: `${KINDS[name]} ${number(found[name].length)}` }));
  return html`<label class="row"><input type="checkbox" checked=${open} onChange=${() => setOpen(!open)} /> Show the values</label>
    <${Tabs} label="Kinds of identifier" tabs=${tabs} chosen=${kind} choose=${setKind}>
      <${DataTable} key=${kind} caption="Identifiers of the kind ${KINDS[kind]}" rows=${found[kind]}
        columns=${[
          { name: "value", title: KINDS[kind], show: (/** @type {string} */ value) => html`<code>${open ? value : masked(value)}</code>` },
          { name: "packets", title: "Packets", number: true },
          { name: "hosts", title: "Hosts", number: true, show: (/** @type {any[]} */ hosts) => hosts.length, order: (/** @type {any} */ row) => row.hosts.length },
        ]} />
    <//>`;
}
