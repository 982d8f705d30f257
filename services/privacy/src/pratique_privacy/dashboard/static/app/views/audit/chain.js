// @ts-check
/** The chains of the log: held against their hashes when asked, with where one breaks. */
import { get } from "../../api.js";
import { moment, number, plural } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { DataTable } from "../../parts/table.js";
import { href } from "../../router.js";

/** @type {Record<string, string>} */
const FAULTS = {
  altered: "its content does not match its hash: somebody changed it",
  missing: "an entry that should be here is not: it was taken out",
  unlinked: "it does not name the entry before it: something was put in or taken out",
  doubled: "its number is there twice",
  "cut-off": "a later chain names an entry that is gone: the end of this chain was cut off",
  damaged: "a block of this name cannot be read: restore it from a backup",
};

export function ChainVerdict() {
  const [found, setFound] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const check = async () => {
    setFound(null);
    setProblem(null);
    try {
      setFound({ ...(await get("/audit/check")), at: new Date().toISOString() });
    } catch (error) {
      setProblem(error);
    }
  };
  useEffect(() => void check(), []);
  const columns = [
    { name: "chain", title: "Chain", show: (/** @type {string} */ chain) => html`<a class="mono" href=${href("audit", [], { chain })}>${chain}</a>` },
    { name: "number", title: "Entry", number: true, show: number },
    { name: "fault", title: "Fault", show: (/** @type {string} */ fault) => html`<strong>${fault}</strong>: ${FAULTS[fault] || ""}` },
  ];
  return html`<section class="panel" aria-labelledby="chain"><header><h2 id="chain">Chain check</h2><button type="button" onClick=${check}>Check again</button><${CopyMenu} call=${{ method: "GET", path: "/audit/check" }} /></header>
    <${ProblemBox} problem=${problem} again=${check} />
    ${!found && !problem && html`<${Progress} label="Reading every entry" />`}
    ${found && html`<div class="row" role="status"><${GateBadge} verdict=${found.intact ? "intact" : "broken"} /><span>${found.intact ? `Every entry matches its hash and names the one before it: ${plural(found.entries, "entry", "entries")} in ${plural(found.chains, "chain")}.` : `${plural(found.breaks.length, "place")} where a chain does not hold, among ${plural(found.entries, "entry", "entries")}.`}</span><span class="small soft">Checked ${moment(found.at)}</span></div>`}
    ${found && !found.intact && html`<${DataTable} caption="Where chains break" columns=${columns} rows=${found.breaks} />`}
    <p class="small soft">A chain begins with each start of an API process and names the ends of those before it, so an end that was cut off shows once a later one began.</p></section>`;
}
