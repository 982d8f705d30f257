/** What the interpreter takes from vega-util, out of the one Vega that is loaded. */
export const { ascending, isString, DisallowedObjectProperties } = window.vega;
