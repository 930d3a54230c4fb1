import { stat } from 'node:fs/promises';
import {
  openToOthers,
  othersCan,
  othersCanRead,
  othersCanWrite,
} from '../../domain/file-access.ts';
import type { LogSink } from '../../domain/log.ts';
import { shellQuote } from '../records/shell-quote.ts';

/**
 * Throws `open_to_others` for a file with a secret that others on the machine can change, or tells `allow` of it; tells `warn` of one that they can read.
 * Pipes and devices are let through, and so is everything on Windows, which keeps no modes.
 */
export async function checkSecretAccess(
  path: string,
  { warn, allow }: { warn?: Say; allow?: Say } = {},
): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile() || process.platform === 'win32') return;
  const mend = `chmod go-rwx ${shellQuote(path)}`;
  if (othersCanWrite(found.mode)) {
    if (!allow) throw openToOthers(path, found.mode, mend);
    allow(othersCan('write', path, found.mode, mend));
  } else if (othersCanRead(found.mode)) warn?.(othersCan('read', path, found.mode, mend));
}

type Say = (message: string) => void;

/** The same of each file that `signage serve` is given a secret in. */
export async function checkSecretFiles(
  paths: readonly (string | undefined)[],
  isOpenAllowed: boolean,
  log: LogSink,
): Promise<void> {
  for (const path of paths) {
    const warn = (message: string) => log.warn({ path }, message);
    if (path !== undefined)
      await checkSecretAccess(path, isOpenAllowed ? { warn, allow: warn } : { warn });
  }
}
