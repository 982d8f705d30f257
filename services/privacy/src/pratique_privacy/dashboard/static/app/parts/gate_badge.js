// @ts-check
/** A badge: a verdict or status as a shape and a word; the colour only repeats it. */
import { html } from "../html.js";

const SHOWN = /** @type {Record<string, [string, string, string]>} */ ({
  pass: ["✔", "pass", "pass"],
  fail: ["✖", "fail", "fail"],
  indeterminate: ["◆", "indeterminate", "indeterminate"],
  queued: ["○", "queued", "wait"],
  running: ["◔", "running", "wait"],
  attacking: ["◑", "attacking", "wait"],
  completed: ["●", "completed", "neutral"],
  ready: ["●", "ready", "neutral"],
  failed: ["✖", "failed", "fail"],
  cancelled: ["■", "cancelled", "neutral"],
  withdrawn: ["■", "withdrawn", "neutral"],
  pending: ["○", "pending", "wait"],
  delivered: ["✔", "delivered", "pass"],
  dropped: ["■", "dropped", "neutral"],
  enabled: ["●", "enabled", "neutral"],
  disabled: ["■", "disabled", "neutral"],
  registered: ["✔", "registered", "pass"],
  "not registered": ["✖", "not registered", "fail"],
  intact: ["✔", "intact", "pass"],
  broken: ["✖", "broken", "fail"],
  "in force": ["●", "in force", "neutral"],
  earlier: ["○", "earlier", "neutral"],
  revoked: ["■", "revoked", "neutral"],
  expired: ["■", "expired", "neutral"],
  signs: ["●", "signs", "neutral"],
  verifies: ["○", "verifies", "neutral"],
});

/** @param {{verdict: string | null | undefined}} props */
export function GateBadge({ verdict }) {
  const [shape, word, kind] = SHOWN[verdict || ""] || ["○", verdict || "no verdict", "neutral"];
  return html`<span class="badge ${kind}"><span aria-hidden="true">${shape}</span>${word}</span>`;
}
