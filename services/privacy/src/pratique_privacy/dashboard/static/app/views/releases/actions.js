// @ts-check
/** Cancel and withdraw: asked for twice, in place, with what will happen. */
import { send } from "../../api.js";
import { html, useState } from "../../html.js";
import { Confirmed } from "../../parts/confirmed.js";
import { ProblemBox } from "../../parts/problem.js";
import { go, href } from "../../router.js";
import { isOver } from "./words.js";

/** @param {{release: any, again: () => void}} props */
export function Actions({ release, again }) {
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const attempt = (/** @type {() => Promise<void>} */ act) => async () => {
    try {
      await act();
    } catch (error) {
      setProblem(error);
    }
  };
  const cancel = attempt(async () => {
    await send("POST", `/releases/${release.id}/cancel`);
    again();
  });
  const withdraw = attempt(async () => {
    await send("DELETE", `/releases/${release.id}`);
    go(href("releases"));
  });
  const published = release.verdict === "pass";
  return html`${!isOver(release.status) && html`<${Confirmed} word="Cancel" sure="Stop it" act=${cancel} consequence="Nothing will leave, and its figures are not kept." />`}
    <${Confirmed} word="Withdraw" sure="Withdraw it" act=${withdraw} consequence=${published ? "Its files are shredded for good; copies that were fetched are not." : "Its figures are gone for everybody."} />
    <${ProblemBox} problem=${problem} />`;
}
