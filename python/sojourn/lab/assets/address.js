// What is on the table, as the end of an address.

import { seconds } from "./changes.js";

const plain = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** @param {Record<string, unknown>} state */
export function packed(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_");
}

/** The state that the end of an address holds; undefined if there is none, null if it is broken. */
export function unpacked(hash) {
  const text = hash.replace(/^#/, "");
  if (!text) return undefined;
  const [, what, which] = /^(tour|experiment)=([\w-]+)$/.exec(text) ?? [];
  if (what) return what === "tour" ? { tour: Number(which) } : { e: which };
  try {
    const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const codes = Uint8Array.from(bytes, (c) => c.charCodeAt(0));
    const state = JSON.parse(new TextDecoder().decode(codes));
    return plain(state) && [state.A, state.B].every(changes) ? state : null;
  } catch {
    return null;
  }
}

function changes(side) {
  if (side === undefined) return true;
  if (!plain(side) || !plain(side.from) || !Array.isArray(side.later)) return false;
  return side.later.every((each) => plain(each) && plain(each.set) && seconds(`${each.at}`) >= 0);
}
