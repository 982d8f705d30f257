// @ts-check
/** The sign-in page: with an API key, or told why a one-time link did not work. */
import { html, useState } from "./html.js";
import { ProblemBox } from "./parts/problem.js";
import { refusal, signIn } from "./session.js";

const MARK = new URL("../style/mark.svg", import.meta.url).href;

export function SignIn() {
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    await signIn({ key: key.trim() });
    setBusy(false);
  };
  return html`<main class="sign-in" id="main">
    <h1 class="brand"><img src=${MARK} alt="" />Pratique</h1>
    <p>See how identifiable the records are before anything leaves.</p>
    <form onSubmit=${submit}>
      <label class="field">API key
        <input type="password" name="key" required autocomplete="current-password" spellcheck="false" value=${key}
          onInput=${(/** @type {any} */ event) => setKey(event.target.value)} /></label>
      <button class="primary" disabled=${busy || !key.trim()}>${busy ? "Signing in …" : "Sign in"}</button>
    </form>
    <${ProblemBox} problem=${refusal.value} />
    <p class="small soft"><code>make run</code> prints a link that signs in once, and where the admin key is. A session lasts twelve hours.</p>
  </main>`;
}
