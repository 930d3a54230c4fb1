import { hasCode } from '../../domain/error.ts';

/**
 * Returns the precondition header of a change (docs/protocol.md §5.10). `null`: the record must
 * still not exist. `undefined`: the ETag is unknown, so the change has no precondition.
 */
export function preconditionOf(etag: string | null | undefined): Record<string, string> {
  if (etag === undefined) return {};
  // The service sends only strong ETags. A proxy that compresses answers makes them weak.
  return etag === null ? { 'If-None-Match': '*' } : { 'If-Match': etag.replace(/^W\//, '') };
}

export const maxAttempts = 10;

interface ConditionalChange<S, R> {
  /** Reads the stored value. Throws if another caller's change must not be overwritten. */
  read(): Promise<S>;
  /** Writes the change, on the condition that the value read is still stored. */
  write(stored: S): Promise<R>;
  /**
   * Returns the result if `stored` shows that nothing is left to write. `isLost`: no answer to the
   * last write arrived. Default: writes again.
   */
  resultOf?(stored: S, isLost: boolean): R | undefined;
}

/**
 * Optimistic concurrency: writes until the service has stored the change, at most 10 times. Reads
 * and writes again if another caller has changed the record, or if the answer was lost. After a
 * lost answer, only the record shows whether the change was made. If the service is down, the read
 * fails too, and its error is thrown.
 */
export async function untilStored<S, R>(
  known: S,
  { read, write, resultOf }: ConditionalChange<S, R>,
): Promise<R> {
  let stored = known;
  for (let attempt = 1; ; attempt++) {
    try {
      return await write(stored);
    } catch (error) {
      const isLost = hasCode(error, 'unreachable');
      const isUnclear = isLost || hasCode(error, 'precondition_failed');
      if (!isUnclear || attempt === maxAttempts) throw error;
      stored = await read();
      const result = resultOf?.(stored, isLost);
      if (result !== undefined) return result;
    }
  }
}
