// @ts-check
/** Attacks: what each adversary gets out of a release, and what others with further parameters would. */
import { html, useEffect } from "../html.js";
import { Empty } from "../parts/empty.js";
import { GateBadge } from "../parts/gate_badge.js";
import { ProblemBox } from "../parts/problem.js";
import { Progress } from "../parts/progress.js";
import { ReleasePicker, useMeasured } from "../parts/release_picker.js";
import { go, href, route } from "../router.js";
import { may } from "../session.js";
import { AdversaryChart } from "./attacks/chart.js";
import { Form } from "./attacks/form.js";
import { rowsOf } from "./attacks/rows.js";
import { RunList, useRuns } from "./attacks/runs.js";
import { useRelease } from "./releases/live.js";
import { isOver } from "./releases/words.js";

export function Attacks() {
  const [id] = route.value.rest;
  const known = useMeasured();
  const newest = known.releases?.[0]?.id;
  useEffect(() => {
    if (!id && newest) go(href("attacks", [newest]), { quiet: true });
  }, [id, newest]);
  return html`<h1>Attacks</h1>
    <${ProblemBox} problem=${known.problem} again=${known.again} />
    ${known.releases && !known.releases.length && !id ? html`<${Empty} title="No release is measured yet"><p>${may("operator") ? html`Adversaries run on what a release would hand over: ask for one in the <a href=${href("workbench")}>workbench</a>.` : "Once the operator has asked for a release, its adversaries are shown here."}</p><//>` : html`
      <div class="row"><${ReleasePicker} label="Release" chosen=${id} releases=${known.releases} choose=${(/** @type {string} */ next) => go(href("attacks", [next]))} />
        ${id && html`<a href=${href("releases", [id])}>Its gate and figures</a><a href=${href("risk", [id])}>Where the risk sits</a>`}</div>
      ${id && html`<${AttacksOn} key=${id} id=${id} />`}`}`;
}

/** @param {{id: string}} props */
function AttacksOn({ id }) {
  const { body, posture, problem, again } = useRelease(id);
  const runs = useRuns(body?.moments.measured ? id : null);
  if (!body || !posture) return problem ? html`<${ProblemBox} problem=${problem} again=${again} />` : html`<${Progress} label="Looking" />`;
  if (!posture.after.rows) return html`<${Empty} title="No record is left"><p>Suppression took every row: there is nobody to attack.</p><//>`;
  const hidden = (route.value.params.hide || "").split(",");
  const shown = runs.found.filter((/** @type {any} */ run) => run.attacks && !hidden.includes(run.id));
  const rows = rowsOf(posture, shown);
  return html`${!isOver(body.status) && html`<${Live} release=${body} />`}
    ${rows.length > 0 ? html`<${AdversaryChart} posture=${posture} rows=${rows} />` : isOver(body.status) && html`<${Empty} title="No adversary was asked for">${may("operator") && html`<p>Run some below; they alter neither the gate nor the certificate.</p>`}<//>`}
    ${rows.filter((row) => row.note).map((row) => html`<p class="note"><strong>${row.label}</strong> ${row.note}</p>`)}
    <div class="attack-page">
      ${may("operator") && html`<${Form} id=${id} posture=${posture} started=${runs.again} />`}
      <${RunList} runs=${runs} hidden=${hidden} />
    </div>`;
}

/** @param {{release: any}} props */
function Live({ release }) {
  const { done, total, stage } = release.progress;
  return html`<section class="panel" aria-label="Adversaries of this release"><div class="row"><${GateBadge} verdict=${release.status} />${stage !== release.status && html`<span>${stage}</span>`}</div>
    <${Progress} label="Shards of the adversaries" share=${total ? done / total : null} words="${done} of ${total}" /></section>`;
}
