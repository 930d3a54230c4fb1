import { readFile } from 'node:fs/promises';
import type { LogSink } from '../domain/log.ts';

/**
 * Returns the soft limit of open files of this process. Returns `undefined` if there is no limit,
 * and on systems other than Linux.
 */
async function openFileLimit(): Promise<number | undefined> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const [, limit] = /^Max open files +(\d+) /m.exec(limits) ?? [];
  return limit === undefined ? undefined : Number(limit);
}

/** Warns if `maxConnections` exceeds the limit of open files. Each connection takes a file. */
export async function checkOpenFiles(
  maxConnections: number,
  log: Pick<LogSink, 'warn'>,
): Promise<void> {
  const limit = await openFileLimit();
  if (limit === undefined || maxConnections <= limit) return;
  log.warn(
    { maxConnections, openFiles: limit },
    'The limit of open files is lower than the maximum number of connections: raise it (ulimit -n, LimitNOFILE), or lower --max-connections.',
  );
}
