import { unlink } from 'node:fs/promises';
import { csvLine } from '../../domain/csv.ts';
import { replaceFile, reserveFile } from '../api/private-file.ts';
import { escapeControl } from '../terminal/escape.ts';
import type { PairUpdate } from './pair-update.ts';

const columns = ['venue', 'screen', 'code', 'expiresAt'];

function rowOf({ venue, screen, code, expiresAt }: PairUpdate): string {
  return csvLine([escapeControl(venue), escapeControl(screen), code ?? '', expiresAt ?? '']);
}

/**
 * Yields all updates unchanged. Keeps the codes that no TV has used yet in a new CSV file (RFC
 * 4180) with mode 0600. Always deletes the file at the end. Throws `usage` if the file exists or
 * cannot be created.
 */
export async function* keepCodesFile(
  path: string,
  updates: AsyncIterable<PairUpdate>,
): AsyncGenerator<PairUpdate> {
  const reserved = await reserveFile(path, '--codes-file');
  await reserved.write(columns.join(','));
  const pending = new Map<string, string>();
  try {
    for await (const update of updates) {
      const wasPending = pending.delete(update.screenId);
      const isPending = update.step === 'code';
      if (isPending) pending.set(update.screenId, rowOf(update));
      if (isPending || wasPending)
        await replaceFile(path, csvLine(columns) + [...pending.values()].join(''));
      yield update;
    }
  } finally {
    await unlink(path).catch(() => {});
  }
}
