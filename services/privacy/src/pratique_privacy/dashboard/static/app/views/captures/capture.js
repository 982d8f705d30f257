// @ts-check
/** One capture: how far its profile is, then what is in it. */
import { bytes, moment, number, percent } from "../../format.js";
import { html } from "../../html.js";
import { Empty } from "../../parts/empty.js";
import { Facts } from "../../parts/facts.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { useResource } from "../../resource.js";
import { SourceActions } from "./actions.js";
import { CaptureCharts } from "./charts.js";
import { Identifiers } from "./identifiers.js";
import { nameOf } from "./list.js";
import { Warnings } from "./warnings.js";

/** Link types in words; their names are those of the registry at tcpdump.org. @type {Record<string, string>} */
const LINKS = { EN10MB: "Ethernet", LINUX_SLL: "Linux cooked", LINUX_SLL2: "Linux cooked, version 2", RAW: "raw IP", IPV4: "raw IPv4", IPV6: "raw IPv6", NULL: "BSD loopback", LOOP: "OpenBSD loopback", IEEE802_11: "Wi-Fi", IEEE802_11_RADIO: "Wi-Fi with radiotap", PPP: "PPP" };

/** @param {{id: string, gone: () => void}} props */
export function CaptureDetail({ id, gone }) {
  const capture = useResource(`/captures/${id}`, { every: 500, whilst: (body) => ["queued", "running"].includes(body.status) });
  const found = capture.body.value;
  if (!found) return html`<${ProblemBox} problem=${capture.problem.value} again=${capture.again} />`;
  const ready = found.status === "ready";
  return html`<section class="panel" aria-label="Capture">
      <header><h2>${nameOf(found)} <${GateBadge} verdict=${found.status} /></h2>
        <${SourceActions} kind="captures" id=${id} ready=${ready && found.records > 0} gone=${gone} /></header>
      ${found.error && html`<${ProblemBox} problem=${found.error} />`}
      ${!ready && !found.error && html`<${Progress} label=${found.status === "running" ? "Being profiled" : "Waiting to be profiled"} share=${found.progress?.share}
        words=${found.progress ? `${number(found.progress.packets)} packets, ${percent(found.progress.share, 0)}` : ""} />`}
      ${ready && html`<${Facts} facts=${factsOf(found)} /><${LinkTypes} types=${found.link_types} />`}
      <${Warnings} warnings=${found.warnings} complete=${found.complete} />
    </section>
    ${ready && !found.records && html`<${Empty} title="Nobody is in this capture"><p>No packet of it has an address, so there is nothing to try a policy on. Was it cut, or filtered too far? Send in another.</p><//>`}
    ${ready && found.records > 0 && html`<${CaptureCharts} id=${id} hosts=${found.records} />
      <${Identifiers} id=${id} />`}`;
}

/** What the frames of the capture begin with; the API gives no count for each. @param {{types: string[]}} props */
function LinkTypes({ types }) {
  return html`<div class="row"><h3 id="link-types" class="small soft">Link types</h3>
    ${types.length ? html`<ul class="plain chips" aria-labelledby="link-types">${types.map((type) => html`<li class="tag" key=${type}>${LINKS[type] ? `${LINKS[type]}, ` : ""}<code>${type}</code></li>`)}</ul>` : html`<span>none: the file names no interface</span>`}</div>`;
}

/** @param {any} found @returns {[string, any][]} */
function factsOf(found) {
  return [
    ["Packets", number(found.packets)],
    ["Hosts", number(found.records)],
    ["Sessions", number(found.sessions)],
    ["Size", bytes(found.bytes)],
    ["Pilot", found.pilot || "none"],
    ["Open to", found.open_to.join(", ") || "nobody"],
    ["From", moment(found.started)],
    ["To", moment(found.ended)],
    ["Sent in", moment(found.created_at)],
    ["Id", html`<code>${found.id}</code>`],
  ];
}
