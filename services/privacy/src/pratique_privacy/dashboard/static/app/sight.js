// @ts-check
/** Sight: a row that is wider than its place is scrolled until what is chosen in it can be seen. */

/** @param {HTMLElement | null} row @param {string} selector */
export function shown(row, selector) {
  const chosen = /** @type {HTMLElement | null} */ (row?.querySelector(selector));
  if (!row || !chosen) return;
  const [left, right] = [chosen.offsetLeft - row.offsetLeft, chosen.offsetLeft - row.offsetLeft + chosen.offsetWidth];
  if (left < row.scrollLeft) row.scrollLeft = left;
  else if (right > row.scrollLeft + row.clientWidth) row.scrollLeft = right - row.clientWidth;
}
