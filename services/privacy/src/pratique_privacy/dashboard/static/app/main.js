// @ts-check
/** The dashboard: sign-in, or the frame with the view that the address names. */
import { html, render, useEffect, useErrorBoundary } from "./html.js";
import { Head } from "./head.js";
import { Help, helpShown } from "./help.js";
import { useKeys } from "./keyboard.js";
import { go, href, route } from "./router.js";
import { ProblemBox } from "./parts/problem.js";
import { begin, caller } from "./session.js";
import { SignIn } from "./sign_in.js";
import { NotYours } from "./not_yours.js";
import { viewNamed, viewsOf } from "./views.js";

function Dashboard() {
  const who = caller.value;
  if (who === undefined) return html`<p class="starting" role="status">Pratique starts …</p>`;
  if (who === null) return html`<${SignIn} />`;
  return html`<${Frame} />`;
}

function Frame() {
  const view = viewNamed(route.value.view);
  useKeys([
    { key: "?", does: "Show or hide this list", act: () => (helpShown.value = !helpShown.value) },
    { key: "/", does: "Go to the search field or the first field of the view", act: () => focusFirst() },
  ]);
  useEffect(() => {
    document.title = `${view?.title || "Not found"} · Pratique`;
  }, [view]);
  const allowed = view && viewsOf().includes(view);
  useEffect(() => {
    const own = viewsOf()[0];
    if (!allowed && own && /^#?\/?$/.test(location.hash)) go(href(own.name), { quiet: true }); // who names no view is shown the first of its own
  }, [allowed]);
  return html`<a class="skip" href="#main" onClick=${toMain}>To the content</a>
    <${Head} />
    <main id="main" tabindex="-1">
      ${helpShown.value && html`<${Help} />`}
      ${allowed ? html`<${Held} key=${view.name} view=${view} />` : html`<${NotYours} />`}
    </main>`;
}

/** A view; where it cannot be drawn, its place says so and the others go on. @param {{view: import("./views.js").View}} props */
function Held({ view }) {
  const [mistake, again] = useErrorBoundary(reportError); // the console tells it too
  if (!mistake) return html`<${view.show} />`;
  return html`<h1>${view.title}</h1><${ProblemBox} problem=${{ code: "page-mistake", detail: "This page cannot be drawn. It is a mistake of the dashboard, or its address was damaged." }} again=${again} />`;
}

/** @param {Event} event */
function toMain(event) {
  event.preventDefault(); // the address behind `#` names the view
  document.getElementById("main")?.focus();
}

function focusFirst() {
  /** @type {HTMLElement | null} */
  const field = document.querySelector("main [data-search]") || document.querySelector("main input:not([type=file]), main select");
  field?.focus();
}

begin();
const place = document.getElementById("app");
if (place) {
  place.replaceChildren();
  render(html`<${Dashboard} />`, place);
}
