// @ts-check
/** The evidence of a release: what its certificate says, and what can be fetched. */
import { moment } from "../../format.js";
import { html } from "../../html.js";
import { ProblemBox } from "../../parts/problem.js";
import { useResource } from "../../resource.js";
import { may } from "../../session.js";

const FORMS = [["parquet", "Parquet"], ["arrow", "Arrow"], ["csv", "CSV"], ["ndjson", "NDJSON"]];

/** @param {{release: any, posture: any}} props */
export function Evidence({ release, posture }) {
  if (release.status !== "completed") return null;
  const released = release.verdict === "pass" && Object.keys(posture.files).length > 0;
  const here = `/releases/${release.id}`;
  return html`<section class="panel" aria-labelledby="evidence"><h2 id="evidence">${released ? "Records and evidence" : "Evidence"}</h2>
    <div class="downloads">
      ${released && may("operator", "recipient") && html`<div><h3>Records</h3><ul class="chips plain">${FORMS.map(([form, title]) => html`<li><a class="as-button" download="${release.id}.${form}" href="${here}/records?format=${form}">${title}</a></li>`)}</ul></div>`}
      ${released && html`<div><h3>Signed</h3><ul class="chips plain">
        <li><a class="as-button" download="${release.id}-certificate.json" href="${here}/certificate">Certificate</a></li>
        <li><a class="as-button" download="${release.id}-evidence.zip" href="${here}/bundle">Bundle (zip)</a></li></ul></div>`}
      <div><h3>To read</h3><ul class="chips plain"><li><a class="as-button" href="${here}/report" target="_blank" rel="noopener">Report<span class="hidden-text"> (in a new tab)</span> ↗</a></li></ul></div>
    </div>
    ${released ? html`<${Certificate} release=${release} />` : html`<p class="soft">There is no certificate: only what passes its gate is signed.</p>`}
  </section>`;
}

/** @param {{release: any}} props */
function Certificate({ release }) {
  const found = useResource(`/releases/${release.id}/certificate`);
  const envelope = found.body.value;
  if (!envelope) return html`<${ProblemBox} problem=${found.problem.value} again=${found.again} />`;
  const statement = statementOf(envelope);
  const said = statement.predicate;
  return html`<details class="certificate"><summary>Certificate, signed ${moment(said.issued_at)}, valid until ${moment(said.valid_until)}</summary>
    <dl class="pairs">
      <dt>Issuer</dt><dd>${said.issuer.service}, for ${said.issuer.tenant}</dd>
      <dt>Signing key</dt><dd><code class="digest">${envelope.signatures[0].keyid}</code> <a href="/keys/jwks.json">public keys</a></dd>
      ${statement.subject.map((/** @type {any} */ one) => html`<dt>${one.name}</dt><dd><code class="digest">${one.digest.sha256}</code></dd>`)}
    </dl>
    <p class="small">Verify it without this service: <code>pratique cert verify ${release.id}-certificate.json --key jwks.json --records ${release.id}.csv</code></p>
    <h3>What it does not say</h3><ul class="small">${(said.limitations || []).map((/** @type {string} */ one) => html`<li>${one}</li>`)}</ul>
  </details>`;
}

/** The in-toto statement inside a DSSE envelope. @param {{payload: string}} envelope */
function statementOf({ payload }) {
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}
