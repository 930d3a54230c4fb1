import type { Head } from './head.ts';
import { RowTally } from './row-tally.ts';

/** A head that its key has signed, and its hash. */
export interface SignedHead {
  head: Head;
  hash: string;
}

/** Verifies the rows of a head: lines whose characters are bytes. Returns what is wrong. */
export async function verifyRows(
  lines: AsyncIterable<string> | Iterable<string>,
  head: Head,
): Promise<string | undefined> {
  const tally = new RowTally();
  let row = 0;
  for await (const line of lines) {
    row++;
    if (!tally.read(line)) return `row ${row} is not the one that was sealed`;
  }
  if (row < Number(head.plays)) return `row ${row + 1} is missing`;
  for (const [name, value] of Object.entries(tally.figures()))
    if (value !== head[name]) return `its rows have ${name} ${value}, its head ${head[name]}`;
  return undefined;
}

/** Verifies the chain of the heads of each campaign. Returns the wrong links. */
export function verifyChain<H extends SignedHead>(heads: readonly H[]): Map<H, string> {
  const found = new Map<H, string>();
  const last = new Map<string, H>();
  const numberOf = ({ head }: H) => Number(head.number);
  for (const head of heads.toSorted((one, other) => numberOf(one) - numberOf(other))) {
    const before = last.get(head.head.campaign);
    last.set(head.head.campaign, head);
    if (!before || before.hash === head.hash) continue;
    const [number, next] = [numberOf(head), numberOf(before) + 1];
    if (number < next)
      found.set(head, `two different heads have number ${number}: their signer has signed both`);
    else if (number > next) found.set(head, `number ${next} is missing before number ${number}`);
    else if (head.head.previous !== before.hash)
      found.set(head, `number ${number} does not follow number ${number - 1}, but another head`);
  }
  return found;
}
