// @ts-check
/** Cancel and withdraw: asked for twice, in place, with what will happen. */
import { send } from "../../api.js";
import { html, useEffect, useRef, useState } from "../../html.js";
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

/** @param {{word: string, sure: string, consequence: string, act: () => Promise<void>}} props */
function Confirmed({ word, sure, consequence, act }) {
  const [asked, setAsked] = useState(false);
  const [busy, setBusy] = useState(false);
  const keep = useRef(/** @type {HTMLElement | null} */ (null));
  const first = useRef(/** @type {HTMLElement | null} */ (null));
  const was = useRef(false);
  useEffect(() => {
    if (asked) keep.current?.focus();
    else if (was.current) first.current?.focus();
    was.current = asked;
  }, [asked]);
  const perform = async () => {
    setBusy(true);
    await act();
    setBusy(false);
    setAsked(false);
  };
  if (!asked) return html`<button type="button" ref=${first} class="danger" onClick=${() => setAsked(true)}>${word} …</button>`;
  return html`<span class="confirm" role="group" aria-label="${word}?" onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Escape" && setAsked(false)}>
    <span>${consequence}</span><button type="button" class="danger" disabled=${busy} onClick=${perform}>${sure}</button>
    <button type="button" ref=${keep} disabled=${busy} onClick=${() => setAsked(false)}>Keep it</button></span>`;
}
