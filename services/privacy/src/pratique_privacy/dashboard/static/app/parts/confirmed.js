// @ts-check
/** A confirmed act: a button that says what will happen and is pressed twice, in place. */
import { html, useEffect, useRef, useState } from "../html.js";

/** @param {{word: string, about?: string, sure: string, consequence: string, act: () => Promise<void>, small?: boolean}} props; `about` names the object where several stand together */
export function Confirmed({ word, about = "", sure, consequence, act, small = false }) {
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
  if (!asked) return html`<button type="button" ref=${first} class="danger ${small ? "small" : ""}" aria-label=${about ? `${word} ${about}` : undefined} onClick=${() => setAsked(true)}>${word} …</button>`;
  return html`<span class="confirm" role="group" aria-label="${[word, about].filter(Boolean).join(" ")}?" onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Escape" && setAsked(false)}>
    <span>${consequence}</span><button type="button" class="danger" disabled=${busy} onClick=${perform}>${sure}</button>
    <button type="button" ref=${keep} disabled=${busy} onClick=${() => setAsked(false)}>Keep it</button></span>`;
}
