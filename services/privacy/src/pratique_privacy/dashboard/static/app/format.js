// @ts-check
/** Numbers, sizes and times as people read them. What is missing is a dash, never a zero. */

export const MISSING = "–";
const LOCALE = "en-GB";

/** @param {number | null | undefined} value @param {number} [digits] */
export function number(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  if (Number.isInteger(value)) return value.toLocaleString(LOCALE);
  return value.toLocaleString(LOCALE, { maximumFractionDigits: digits, minimumFractionDigits: Math.min(digits, 2) });
}

/** A share in [0, 1] as a percentage. @param {number | null | undefined} share @param {number} [digits] */
export function percent(share, digits = 1) {
  if (share === null || share === undefined || !Number.isFinite(share)) return MISSING;
  return `${(share * 100).toLocaleString(LOCALE, { maximumFractionDigits: digits })} %`;
}

/** For columns of tables, which show a value with its row. @param {number | null | undefined} value */
export const asNumber = (value) => number(value);
/** @param {number | null | undefined} share */
export const asPercent = (share) => percent(share);

/** @param {number | null | undefined} count */
export function bytes(count) {
  if (count === null || count === undefined) return MISSING;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = count;
  let place = 0;
  while (value >= 1000 && place < units.length - 1) {
    value /= 1000;
    place += 1;
  }
  return `${value.toLocaleString(LOCALE, { maximumFractionDigits: place && value < 100 ? 1 : 0 })} ${units[place]}`;
}

/** @param {number} count @param {string} one @param {string} [many] */
export function plural(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** An RFC 3339 moment in the reader's own time, with seconds where the style is medium. @param {string | null | undefined} text @param {"short" | "medium"} [style] */
export function moment(text, style = "short") {
  if (!text) return MISSING;
  return new Date(text).toLocaleString(LOCALE, { dateStyle: "medium", timeStyle: style });
}

/** How long ago. @param {string | null | undefined} text @param {number} [now] */
export function age(text, now = Date.now()) {
  if (!text) return MISSING;
  const seconds = Math.max(0, (now - Date.parse(text)) / 1000);
  const [limit, size, name] = [[90, 1, "s"], [5400, 60, "min"], [129600, 3600, "h"], [Infinity, 86400, "d"]].find(([most]) => seconds < Number(most)) || [0, 1, "s"];
  return limit === 90 && seconds < 5 ? "now" : `${Math.round(seconds / Number(size))} ${name} ago`;
}

/** A cell of a record: lists in braces-free text, `*` as it is, nothing as a dash. @param {unknown} value */
export function cell(value) {
  if (value === null || value === undefined) return MISSING;
  if (Array.isArray(value)) return value.length ? value.join(", ") : "∅";
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

/** An identifier that nobody asked to see. @param {string} value */
export function masked(value) {
  return "•".repeat(Math.min(value.length, 8));
}
