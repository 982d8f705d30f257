// @ts-check
/** The least loss that passes the gate: asked of the service, shown with its figures, taken as one step. */
import { get, send } from "../../api.js";
import { number, percent } from "../../format.js";
import { html, useState } from "../../html.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { requestOf } from "./bench.js";
import { bench, change } from "./desk.js";

const LOOK = 700;

export function LeastLoss() {
  const [found, setFound] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const now = bench.value;
  const ask = async () => {
    if (!now) return;
    setProblem(null);
    setFound({ status: "queued" });
    const table = tableOf(now);
    try {
      let study = await send("POST", "/recommendations", questionOf(now), { wait: 3, once: true });
      while (["queued", "running"].includes(study.status)) {
        setFound(study);
        await new Promise((resolve) => setTimeout(resolve, LOOK));
        study = await get(`/recommendations/${study.id}`);
      }
      setFound({ ...study, table });
      if (study.error) setProblem(study.error);
    } catch (error) {
      setProblem(error);
      setFound(null);
    }
  };
  const other = Boolean(now && found?.table && found.table !== tableOf(now));
  const searching = found && ["queued", "running"].includes(found.status);
  const take = () => {
    if (!now) return;
    change({ ...now, steps: found.recommended.policy.steps }, "least loss that passes the gate");
    setFound(null);
  };
  return html`<button type="button" disabled=${!now || searching} title="Search the policy of least loss that passes the gate" onClick=${ask}>Least loss that passes</button>
    ${searching && html`<span class="grow"><${Progress} label="Searching levels and thresholds" share=${found.progress?.total ? found.progress.done / found.progress.total : null} /></span>`}
    ${problem && html`<div class="all"><${ProblemBox} problem=${problem} /></div>`}
    ${found?.status === "completed" && !other && html`<div class="note all" role="status"><${Answer} found=${found} take=${take} close=${() => setFound(null)} /></div>`}`;
}

/** What a search was about: on another table its steps mean nothing. @param {import("./bench.js").Bench} now */
function tableOf(now) {
  return `${now.source} ${now.unit}`;
}

/** @param {{found: any, take: () => void, close: () => void}} props */
function Answer({ found, take, close }) {
  const best = found.recommended;
  if (!best)
    return html`<p><strong>Nothing in the search passes this gate.</strong> Loosen a bound, take a quasi-identifier out, or drop a column.</p><span><button type="button" onClick=${close}>Close</button></span>`;
  const { predicted, loss } = best;
  return html`<p><strong>${best.policy.steps.length} steps pass the gate</strong>${found.proved ? ", and nothing else that was searched loses less" : " with the least loss found in the time"}:
      k ${number(predicted.k)}, unique ${number(predicted.uniques)}, t ${number(predicted.t, 2)}, survival ${percent(predicted.survival)}, information lost ${percent(loss.entropy)}.
      ${found.not_held?.length > 0 && html` Not held: ${found.not_held.join(", ")}.`}</p>
    <span class="row"><button type="button" class="primary" onClick=${take}>Take it</button><button type="button" onClick=${close}>Leave it</button></span>`;
}

/** Steps on identifiers come first in every policy; the others are what is searched. @param {import("./bench.js").Bench} now */
function questionOf(now) {
  const first = now.steps.filter((step) => step.column && now.classes[step.column] !== "quasi_identifier");
  return { ...requestOf(now), policy: { steps: first }, gate: now.gate, ...(now.pilot ? { pilot: now.pilot } : {}), budget: { seconds: 30 } };
}
