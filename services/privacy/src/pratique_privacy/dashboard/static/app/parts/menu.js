// @ts-check
/** A menu: a button that opens a sheet beside it, closed by Escape or a click elsewhere. */
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "../html.js";

const EDGE = 8; // pixels that a sheet keeps from the edge of the window

/** @param {{label: any, title?: string, children: any, quiet?: boolean}} props */
export function Menu({ label, title, children, quiet = true }) {
  const [open, setOpen] = useState(false);
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  const id = useId();
  useEffect(() => {
    if (!open) return undefined;
    const away = (/** @type {Event} */ event) => {
      if (!root.current?.contains(/** @type {Node} */ (event.target))) setOpen(false);
    };
    const escape = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Escape") return;
      setOpen(false);
      root.current?.querySelector("button")?.focus();
    };
    addEventListener("pointerdown", away);
    addEventListener("keydown", escape);
    return () => {
      removeEventListener("pointerdown", away);
      removeEventListener("keydown", escape);
    };
  }, [open]);
  useLayoutEffect(() => {
    const sheet = /** @type {HTMLElement | null} */ (root.current?.querySelector(".sheet"));
    if (sheet) intoWindow(sheet);
  });
  return html`<span class="menu" ref=${root}>
    <button type="button" class=${quiet ? "quiet" : ""} title=${title} aria-expanded=${open} aria-controls=${id} onClick=${() => setOpen(!open)}>${label}</button>
    ${open && html`<div class="sheet" id=${id}>${typeof children === "function" ? children(() => setOpen(false)) : children}</div>`}
  </span>`;
}

/** Move a sheet sideways until all of it is in the window. @param {HTMLElement} sheet */
function intoWindow(sheet) {
  sheet.style.translate = "none";
  const { left, right } = sheet.getBoundingClientRect();
  const most = document.documentElement.clientWidth - EDGE;
  sheet.style.translate = `${left < EDGE ? EDGE - left : Math.min(0, most - right)}px`;
}
