import { hash } from 'node:crypto';
import { SignageError } from '../../domain/error.ts';
import type { CopyProgress, StoreSource } from './transfer.ts';

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

/**
 * Throws if the unfinished copy in `place` has another source, or if the source has changed since
 * the copy began.
 */
export function requireSameOrigin(
  { origin }: CopyProgress,
  source: StoreSource,
  place: string,
): void {
  const { store, state } = newProgress(source).origin;
  if (origin.store !== store)
    throw storeNotEmptyError(place, 'it has an unfinished copy of another store');
  if (origin.state !== state)
    throw storeNotEmptyError(
      place,
      'it has an unfinished copy, and the source has changed since that began',
    );
}

export function storeNotEmptyError(place: string, why: string): SignageError {
  return new SignageError(
    'store_not_empty',
    `${place} cannot be a copy target: ${why}. Empty it, or choose another target.`,
  );
}

/**
 * Returns the error for a store with an unfinished copy. No service may start on it, and it cannot
 * be copied.
 */
export function copyUnfinishedError(place: string): SignageError {
  return new SignageError(
    'copy_unfinished',
    `${place}: a copy into it was not finished. Run signage store copy again, or empty it.`,
  );
}
