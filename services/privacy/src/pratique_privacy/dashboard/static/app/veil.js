// @ts-check
/** The veil: identifiers of subscribers are dots until somebody asks to see them, in records as in labels. Pure. */
import { cell, masked } from "./format.js";

/** Columns of captures that name a subscriber or a device, whatever class they were given. */
const NAMING = ["imsi", "supi", "suci", "guti", "guti_4g", "s_tmsi", "tmsi", "msisdn", "gpsi", "imei", "imeisv", "pei"];

/** Whether the values of a column are kept in dots, by its class, the class that was suggested, or its name. @param {string} column @param {string} chosen @param {string} [suggested] */
export function isVeiled(column, chosen, suggested = "") {
  return chosen === "identifier" || suggested === "identifier" || NAMING.includes(column.toLowerCase());
}

/** Whether a value has the shape of an IMSI, IMEI or telephone number (3GPP TS 23.003), of a SUPI or of a SUCI. @param {any} value @returns {boolean} */
export function isShaped(value) {
  if (Array.isArray(value)) return value.some(isShaped);
  return typeof value === "string" && /^\+?\d{13,16}$|^(imsi|suci|nai|imei|imeisv|msisdn)-./.test(value.trim());
}

/** The column whose values the survival per label names: the role where it is released, else the first sensitive one. @param {any} attributes */
export function labelColumn(attributes) {
  const { quasi_identifiers = [], sensitive = [], insensitive = [] } = attributes;
  return [...quasi_identifiers, ...sensitive, ...insensitive].includes("role") ? "role" : sensitive[0] || "";
}

/** A label as people read it: one of a list column is JSON. @param {string} label */
export function labelText(label) {
  if (!label.startsWith("[")) return label || "(empty)";
  try {
    return cell(JSON.parse(label));
  } catch {
    return label;
  }
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
