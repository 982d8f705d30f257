// @ts-check
/** Downloads made in the page: tables as CSV, pictures of charts. */

/** @param {string} name @param {Blob} blob */
export function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Rows as CSV (RFC 4180); a leading sign that a spreadsheet would compute is quoted by an apostrophe. @param {{name: string, title?: string}[]} columns @param {Record<string, unknown>[]} rows */
export function csv(columns, rows) {
  const lines = [columns.map((column) => field(column.title || column.name)), ...rows.map((row) => columns.map((column) => field(row[column.name])))];
  return new Blob([lines.map((line) => line.join(",")).join("\r\n"), "\r\n"], { type: "text/csv" });
}

/** @param {unknown} value */
function field(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const held = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(held) ? `"${held.replaceAll('"', '""')}"` : held;
}
