import { yieldToEventLoop } from '../disk/yield.ts';

/**
 * Number of keys sorted between two yields to the event loop. Sorting so many takes some
 * milliseconds.
 */
const sliceKeys = 2000;

/** Merge sort that yields to the event loop. */
export async function sortCooperatively(keys: string[]): Promise<string[]> {
  if (keys.length <= sliceKeys) return keys.sort();
  await yieldToEventLoop();
  const middle = Math.ceil(keys.length / 2);
  return mergeTwo(
    await sortCooperatively(keys.slice(0, middle)),
    await sortCooperatively(keys.slice(middle)),
  );
}

async function mergeTwo(left: string[], right: string[]): Promise<string[]> {
  const merged: string[] = [];
  let at = 0;
  for (const key of left) {
    for (let other = right[at]; other !== undefined && other < key; other = right[++at])
      merged.push(other);
    merged.push(key);
    if (merged.length % sliceKeys === 0) await yieldToEventLoop();
  }
  return merged.concat(right.slice(at));
}
