// @ts-check
/** A study: how far it is, stopped on demand, and its answer once it is there. */
import { send } from "../../api.js";
import { age, moment } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { useFollowed } from "../../resource.js";
import { may } from "../../session.js";
import { isGoing } from "./kinds.js";
import { titleOf } from "./list.js";

/** @param {{kind: import("./kinds.js").Kind, id: string, changed: () => void}} props */
export function Study({ kind, id, changed }) {
  const path = `/${kind.path}/${id}`;
  const found = useFollowed(path, isGoing);
  const [refused, setRefused] = useState(/** @type {any} */ (null));
  const study = found.body.value;
  useEffect(() => {
    if (study) changed();
  }, [study?.status]);
  if (!study) return found.problem.value ? html`<${ProblemBox} problem=${found.problem.value} again=${found.again} />` : html`<${Progress} label="Looking" />`;
  const stop = async () => {
    try {
      await send("POST", `${path}/cancel`);
      found.again();
    } catch (error) {
      setRefused(error);
    }
  };
  const { done, total } = study.progress;
  return html`<header class="row study-head"><h2>${titleOf(kind, study)}</h2><${GateBadge} verdict=${study.status} />
      <span class="small soft"><time datetime=${study.created_at} title=${moment(study.created_at)}>${age(study.created_at)}</time></span>
      <span class="push row">${isGoing(study) && may("operator") && html`<button type="button" class="danger" onClick=${stop}>Cancel</button>`}<${CopyMenu} call=${{ method: "GET", path }} /></span></header>
    ${isGoing(study) && html`<section class="panel" aria-label="Progress"><${Progress} label=${study.status === "queued" ? "Waiting for its turn" : kind.parts} share=${total > 1 ? done / total : null} words=${total > 1 ? `${done} of ${total}` : ""} />
      <p class="small soft">It goes on when this page is closed; its address stays the same.</p></section>`}
    <${ProblemBox} problem=${refused || found.problem.value || study.error} />
    ${study.status === "cancelled" && html`<p class="note">This ${kind.one} was cancelled: it has no figures. Ask for it again under “New ${kind.one}”.</p>`}
    ${study.status === "completed" && html`<${kind.Answer} study=${study} />`}`;
}
