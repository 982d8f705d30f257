// @ts-check
/** Explore: studies across many policies: sweeps, recommendations, and what a model still learns. */
import { html, useEffect } from "../html.js";
import { Empty } from "../parts/empty.js";
import { ProblemBox } from "../parts/problem.js";
import { Progress } from "../parts/progress.js";
import { Tabs } from "../parts/tabs.js";
import { useResource } from "../resource.js";
import { go, href, route } from "../router.js";
import { may } from "../session.js";
import { KINDS, isGoing, kindNamed } from "./explore/kinds.js";
import { StudyList } from "./explore/list.js";
import { Study } from "./explore/study.js";

export function Explore() {
  const kind = kindNamed(route.value.rest[0]);
  return html`<h1>Explore</h1>
    <${Tabs} label="Kinds of studies" tabs=${KINDS.map(({ path, title }) => ({ name: path, title }))} chosen=${kind.path} choose=${(/** @type {string} */ path) => go(href("explore", [path]))}>
      <div class="explore-kind"><p class="soft">${kind.about}</p><${OfKind} key=${kind.path} kind=${kind} /></div>
    <//>`;
}

/** @param {{kind: import("./explore/kinds.js").Kind}} props */
function OfKind({ kind }) {
  const id = route.value.rest[1];
  const listed = useResource(`/${kind.path}?limit=50`, { every: 2000, whilst: (page) => page.data.some(isGoing) });
  const studies = listed.body.value?.data;
  const newest = studies?.[0]?.id;
  useEffect(() => {
    if (!id && studies) go(href("explore", newest ? [kind.path, newest] : may("operator") ? [kind.path, "new"] : [kind.path]), { quiet: true });
  }, [id, newest, !studies]);
  const begun = (/** @type {string} */ study) => {
    listed.again();
    go(href("explore", [kind.path, study]));
  };
  if (!studies) return listed.problem.value ? html`<${ProblemBox} problem=${listed.problem.value} again=${listed.again} />` : html`<${Progress} label="Looking" />`;
  if (!studies.length && !may("operator")) return html`<${Empty} title="No ${kind.one} yet"><p>The operator can ask for one here; its results then stand in this place.</p><//>`;
  return html`<div class="explore">
    <${StudyList} kind=${kind} studies=${studies} chosen=${id} />
    <div class="explore-main">${id === "new" && may("operator") ? html`<${kind.Form} begun=${begun} />` : id && id !== "new" && html`<${Study} key=${id} kind=${kind} id=${id} changed=${listed.again} />`}</div>
  </div>`;
}
