// @ts-check
/** Uploads: files on their way in, each with how much was sent and what became of it. */
import { upload } from "../../api.js";
import { bytes } from "../../format.js";
import { html, useState } from "../../html.js";
import { DropZone } from "../../parts/drop_zone.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { go, href, route } from "../../router.js";
import { useSignal } from "../../html.js";

/** @typedef {{number: number, name: string, size: number, sent: number, problem: any, abort: () => void}} Sending */

const TABLES = /** @type {Record<string, string>} */ ({ csv: "text/csv", json: "application/json", ndjson: "application/x-ndjson", jsonl: "application/x-ndjson" });
const ACCEPT = ".pcap,.pcapng,.cap,.gz,.zst,.csv,.json,.ndjson,.jsonl";
const PILOT = /^[A-Za-z0-9][A-Za-z0-9._ \-]*$/;
let count = 0;

/** @param {{arrived: () => void}} props */
export function Uploads({ arrived }) {
  const sending = useSignal(/** @type {Sending[]} */ ([]));
  const [pilot, setPilot] = useState("");
  const change = (/** @type {number} */ number, /** @type {Partial<Sending>} */ what) => {
    sending.value = sending.value.map((entry) => (entry.number === number ? { ...entry, ...what } : entry));
  };
  const forget = (/** @type {number} */ number) => (sending.value = sending.value.filter((entry) => entry.number !== number));
  const take = (/** @type {File[]} */ files) => {
    for (const file of files) {
      const number = (count += 1);
      const [path, media] = placeOf(file, pilot);
      const { done, abort } = upload(path, file, media, (sent) => change(number, { sent }));
      sending.value = [...sending.value, { number, name: file.name, size: file.size, sent: 0, problem: null, abort }];
      done.then(
        (made) => {
          forget(number);
          arrived();
          if (route.peek().view === "captures") go(href("captures", [made.id])); // else the reader is elsewhere by now
        },
        (problem) => (problem.name === "AbortError" ? forget(number) : change(number, { problem })),
      );
    }
  };
  return html`<section class="panel" aria-label="Send in">
    <${DropZone} title="Drop captures or tables here" hint="pcap or pcapng, also gzip or zstd; CSV, NDJSON, JSON" accept=${ACCEPT} take=${take} />
    <label class="field">Pilot (the site they come from; pseudonyms differ by pilot)
      <input value=${pilot} maxlength="100" pattern=${PILOT.source} placeholder="none" onInput=${(/** @type {any} */ event) => setPilot(event.target.value)} /></label>
    ${sending.value.map((entry) => html`<div key=${entry.number}>
      ${entry.problem
        ? html`<p><strong>${entry.name}</strong> was not taken in.</p><${ProblemBox} problem=${entry.problem} />
            <button type="button" class="quiet" onClick=${() => forget(entry.number)}>Dismiss</button>`
        : html`<div class="row"><div class="grow"><${Progress} label=${entry.name} share=${entry.size ? entry.sent / entry.size : 0}
              words="${bytes(entry.sent)} of ${bytes(entry.size)}${entry.sent >= entry.size ? ", being stored" : ""}" /></div>
            <button type="button" onClick=${entry.abort}>Stop</button></div>`}
    </div>`)}
  </section>`;
}

/** Where a file goes, by the end of its name, and its media type. @param {File} file @param {string} pilot @returns {[string, string]} */
function placeOf(file, pilot) {
  const labels = new URLSearchParams({ name: file.name, ...(PILOT.test(pilot) ? { pilot } : {}) });
  const media = TABLES[file.name.toLowerCase().split(".").pop() || ""];
  return media ? [`/datasets?${labels}`, media] : [`/captures?${labels}`, "application/octet-stream"];
}
