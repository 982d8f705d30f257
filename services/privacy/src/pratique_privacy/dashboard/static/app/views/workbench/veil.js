// @ts-check
/** The veil: identifiers of subscribers in records are dots until somebody asks to see them. Pure. */
import { masked } from "../../format.js";

/** Columns of captures that name a subscriber or a device, whatever class they were given. */
const NAMING = ["imsi", "supi", "suci", "guti", "guti_4g", "s_tmsi", "tmsi", "msisdn", "gpsi", "imei", "imeisv", "pei"];

/** @param {string} column @param {string} chosen its class */
export function isVeiled(column, chosen) {
  return chosen === "identifier" || NAMING.includes(column.toLowerCase());
}

/** A value as it was, in dots; nothing and empty lists stay what they are. @param {any} value @returns {any} */
export function veiled(value) {
  if (value === null || value === undefined) return value;
  return Array.isArray(value) ? value.map(veiled) : masked(String(value));
}

/** What a policy makes of a value: a pseudonym is shown, what is left of the value itself is not. @param {any} before @param {any} after @returns {any} */
export function veiledAfter(before, after) {
  const whole = (Array.isArray(before) ? before : [before]).map(String);
  const one = (/** @type {any} */ value) => (value !== null && value !== undefined && whole.some((text) => text.includes(String(value))) ? veiled(value) : value);
  return Array.isArray(after) ? after.map(one) : one(after);
}
