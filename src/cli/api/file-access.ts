import { stat } from 'node:fs/promises';
import {
  describeOthersAccess,
  openToOthersError,
  othersCanRead,
  othersCanWrite,
} from '../../domain/file-access.ts';
import type { LogSink } from '../../domain/log.ts';
import { shellQuote } from '../records/text.ts';

/**
 * Checks who can access a file with a secret. If other users can change it, calls `allow` or throws
 * `open_to_others`. If they can read it, calls `warn`.
 * Skips pipes and devices, and everything on Windows, which has no file modes.
 */
export async function checkSecretAccess(
  path: string,
  { warn, allow }: { warn?: Report; allow?: Report } = {},
): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile() || process.platform === 'win32') return;
  const fix = `chmod go-rwx ${shellQuote(path)}`;
  if (othersCanWrite(found.mode)) {
    if (!allow) throw openToOthersError(path, found.mode, fix);
    allow(describeOthersAccess('write', path, found.mode, fix));
  } else if (othersCanRead(found.mode)) warn?.(describeOthersAccess('read', path, found.mode, fix));
}

type Report = (message: string) => void;

/**
 * Checks the secret files of `signage serve`. Logs a warning instead of throwing if
 * `isOpenAllowed`.
 */
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
