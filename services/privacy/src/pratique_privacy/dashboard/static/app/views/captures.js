// @ts-check
/** Captures: what was sent in, captures and tables, and what is in the one that the address names. */
import { html } from "../html.js";
import { Empty } from "../parts/empty.js";
import { ProblemBox } from "../parts/problem.js";
import { useResource } from "../resource.js";
import { route } from "../router.js";
import { CaptureDetail } from "./captures/capture.js";
import { DatasetDetail } from "./captures/dataset.js";
import { SourceList } from "./captures/list.js";
import { Uploads } from "./captures/uploads.js";

const WAITING = ["queued", "running"];
const LOOK = 1000; // milliseconds between two looks at captures that are being profiled

export function Captures() {
  const waiting = (/** @type {any} */ page) => page.data.some((/** @type {any} */ entry) => WAITING.includes(entry.status));
  const captures = useResource("/captures?limit=200", { every: LOOK, whilst: waiting });
  const datasets = useResource("/datasets?limit=200");
  const again = () => {
    captures.again();
    datasets.again();
  };
  const known = captures.body.value && datasets.body.value;
  const sources = known ? inOrder(captures.body.value.data, datasets.body.value.data) : [];
  const chosen = route.value.rest[0] || sources[0]?.id;
  return html`<h1>Captures and tables</h1>
    <div class="captures">
      <div class="captures-side">
        <${Uploads} arrived=${again} />
        <${ProblemBox} problem=${captures.problem.value || datasets.problem.value} again=${again} />
        ${known && sources.length > 0 && html`<${SourceList} sources=${sources} chosen=${chosen} />`}
      </div>
      <div class="captures-detail">
        ${known && sources.length === 0 && html`<${Empty} title="Nothing was sent in yet">
          <p>Drop a capture (pcap, pcapng) or a table (CSV, NDJSON, JSON) on the field, or choose one. <code>make demo</code> writes a
            generated capture to <code>out/sample.pcapng</code>.</p><//>`}
        ${chosen?.startsWith("cap_") && html`<${CaptureDetail} key=${chosen} id=${chosen} gone=${again} />`}
        ${chosen?.startsWith("dst_") && html`<${DatasetDetail} key=${chosen} id=${chosen} gone=${again} />`}
      </div>
    </div>`;
}

/** @param {any[]} captures @param {any[]} datasets */
function inOrder(captures, datasets) {
  return [...captures, ...datasets].sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
}
