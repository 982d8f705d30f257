// @ts-check
/** Risk: where in a release the risk sits, by class, by set of fields, by record, and whose risk each figure is. */
import { html, useEffect } from "../html.js";
import { Empty } from "../parts/empty.js";
import { GateBadge } from "../parts/gate_badge.js";
import { ProblemBox } from "../parts/problem.js";
import { Progress } from "../parts/progress.js";
import { ReleasePicker, useMeasured } from "../parts/release_picker.js";
import { useResource } from "../resource.js";
import { go, href, route } from "../router.js";
import { may } from "../session.js";
import { Attackers } from "./risk/attackers.js";
import { Below, ClassSizes } from "./risk/classes.js";
import { Exposure } from "./risk/exposure.js";
import { SmallestClasses } from "./risk/records.js";

export function Risk() {
  const [id] = route.value.rest;
  const known = useMeasured();
  const newest = known.releases?.[0]?.id;
  useEffect(() => {
    if (!id && newest) go(href("risk", [newest]), { quiet: true });
  }, [id, newest]);
  const one = known.releases?.find((/** @type {any} */ release) => release.id === id);
  return html`<div class="row"><h1>Risk</h1>${one && html`<${GateBadge} verdict=${one.verdict || one.status} />`}</div>
    <${ProblemBox} problem=${known.problem} again=${known.again} />
    ${known.releases && !known.releases.length && !id ? html`<${NothingYet} />` : html`
      <div class="row"><${ReleasePicker} label="Release" chosen=${id} releases=${known.releases} choose=${(/** @type {string} */ next) => go(href("risk", [next]))} />
        ${id && html`<a href=${href("releases", [id])}>Its gate and figures</a><a href=${href("attacks", [id])}>Adversaries</a>`}</div>
      ${id && html`<${RiskOf} key=${id} id=${id} />`}`}`;
}

/** @param {{id: string}} props */
function RiskOf({ id }) {
  const path = `/releases/${id}/risk`;
  const found = useResource(path);
  const risk = found.body.value;
  if (!risk) return found.problem.value ? html`<${ProblemBox} problem=${found.problem.value} again=${found.again} />` : html`<${Progress} label="Looking at every set of fields" />`;
  if (!risk.class.histogram.length) return html`<${Empty} title="No record is left"><p>Suppression took every row, so there is no risk to show, and nothing to release. Lower the threshold in the <a href=${href("workbench")}>workbench</a>.</p><//>`;
  const call = (/** @type {string} */ by) => ({ method: "GET", path: `${path}?by=${by}` });
  return html`<${Attackers} found=${risk.class} />
    <div class="grid-2"><${ClassSizes} found=${risk.class} call=${call("class")} /><${Below} found=${risk.class} call=${call("class")} /></div>
    <${Exposure} risk=${risk} call=${call} />
    ${may("operator") ? html`<${SmallestClasses} records=${risk.record} call=${call("record")} />` : html`<p class="note">The smallest classes show values of records: they are for the operator.</p>`}`;
}

function NothingYet() {
  return html`<${Empty} title="No release is measured yet"><p>${may("operator") ? html`Try a policy in the <a href=${href("workbench")}>workbench</a> and release it; its risk is shown here, whatever the gate says.` : "Once the operator has asked for a release, its risk is shown here."}</p><//>`;
}
