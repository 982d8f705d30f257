// @ts-check
/** The views: their names in the address, their titles, and whom they are for. A new view is a line here. */
import { may } from "./session.js";
import { Attacks } from "./views/attacks.js";
import { Audit } from "./views/audit.js";
import { Captures } from "./views/captures.js";
import { Explore } from "./views/explore.js";
import { Integrations } from "./views/integrations.js";
import { Releases } from "./views/releases.js";
import { Risk } from "./views/risk.js";
import { Workbench } from "./views/workbench.js";

/** @typedef {{name: string, title: string, roles: string[], show: () => any}} View */

/** @type {View[]} */
export const VIEWS = [
  { name: "captures", title: "Captures", roles: ["operator"], show: Captures },
  { name: "workbench", title: "Workbench", roles: ["operator"], show: Workbench },
  { name: "releases", title: "Releases", roles: ["operator", "recipient", "auditor"], show: Releases },
  { name: "risk", title: "Risk", roles: ["operator", "auditor"], show: Risk },
  { name: "attacks", title: "Attacks", roles: ["operator", "auditor"], show: Attacks },
  { name: "explore", title: "Explore", roles: ["operator", "auditor"], show: Explore },
  { name: "integrations", title: "Integrations", roles: ["operator", "auditor"], show: Integrations },
  { name: "audit", title: "Audit", roles: ["auditor"], show: Audit },
];

/** The views that the role of who is signed in may see. */
export function viewsOf() {
  return VIEWS.filter((view) => may(...view.roles));
}

/** @param {string} name */
export function viewNamed(name) {
  return VIEWS.find((view) => view.name === name);
}
