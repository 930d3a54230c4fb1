import type { AuditLink, ChainKey, ChainStart, ChainState, SealedEntry } from './audit-chain.ts';
import { AuditVerifier } from './audit-verifier.ts';

/**
 * Verifies the first entries of the trail, before retention deletes them. `undefined` stands for an
 * unreadable entry. `isValid` tells whether all of these entries verify. `start` is the signed
 * start of the chain without these entries. It is absent if no entry so far had a link.
 */
export async function startAfter(
  key: ChainKey,
  { head: _head, ...state }: ChainState,
  entries: Iterable<SealedEntry | undefined> | AsyncIterable<SealedEntry | undefined>,
  day: string,
): Promise<{ isValid: boolean; start?: ChainStart }> {
  const verifier = new AuditVerifier(key, state);
  let last: AuditLink | undefined = state.start;
  let isValid = true;
  for await (const one of entries) {
    if (verifier.take(one).some(({ level }) => level === 'damage')) isValid = false;
    last = one?.link ?? last;
  }
  return { isValid, ...(last && { start: key.start(last, day) }) };
}
