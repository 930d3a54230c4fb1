import { hash } from 'node:crypto';
import { SignageError } from '../../domain/error.ts';
import type { ChainState } from '../audit/audit-chain.ts';
import type { LogEnd, Section, StoreSource } from './transfer.ts';

/** What a target notes of a copy into it until the copy is complete. */
export interface CopyProgress {
  /** Whose copy it is: a hash of the secret, and the state of the source. */
  origin: { store: string; state: string };
  logEnd: LogEnd;
  /** Of the source, without its writer: the copy is a life of its own. */
  chain?: ChainState;
  /** Records that are there for good. */
  done: { [S in Section]?: number };
  complete: Section[];
}

export function newProgress({ secret, state, logEnd, chain }: StoreSource): CopyProgress {
  const { writer: _writer, ...copied } = chain;
  return {
    origin: { store: hash('sha256', secret), state },
    logEnd,
    chain: copied,
    done: {},
    complete: [],
  };
}

/** Throws when the copy that was begun in `place` is not one of this source as it is now. */
export function requireSameOrigin(
  { origin }: CopyProgress,
  source: StoreSource,
  place: string,
): void {
  const { store, state } = newProgress(source).origin;
  if (origin.store !== store) throw notEmpty(place, 'a copy of another store was begun in it');
  if (origin.state !== state)
    throw notEmpty(place, 'a copy was begun in it, and the source has changed since then');
}

export function notEmpty(place: string, why: string): SignageError {
  return new SignageError(
    'store_not_empty',
    `${place} cannot be copied into: ${why}. Empty it, or name another place.`,
  );
}

/** Why neither a service starts on a place nor a copy is made of it. */
export function unfinished(place: string): SignageError {
  return new SignageError(
    'copy_unfinished',
    `${place}: a copy into it was not finished. Run signage store copy again, or empty it.`,
  );
}
