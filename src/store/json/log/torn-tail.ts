import { iso } from '../../../domain/clock.ts';
import { writeFully } from '../disk/file-system.ts';
import { replaceFile } from '../disk/replace-file.ts';
import type { PartContext } from '../parts.ts';
import { readAt } from './line-reader.ts';

/** The end of a log's last file that is no whole record: what a crash left of a write that was never acknowledged. */
export interface TornTail {
  file: string;
  /** The file is good up to here. */
  size: number;
}

/** Cuts a torn tail off, after it has been kept aside as `<file>.torn-<time>`. A file of which nothing is left goes. */
export async function cutTornTail(
  { disk, clock, warn }: PartContext,
  directory: string,
  { file, size }: TornTail,
): Promise<void> {
  const path = `${directory}/${file}`;
  const torn = await bytesFrom(disk, path, size);
  if (torn.length > 0) {
    const aside = `${path}.torn-${iso(clock.now()).replaceAll(':', '-')}`;
    // A start that was cut short may have kept the same bytes there already.
    await replaceFile(disk, aside, (copy) => writeFully(copy, torn));
    await disk.syncDirectory(directory);
    warn(
      `${path} ended in ${torn.length} bytes of a record that was never acknowledged: they are kept in ${aside}`,
    );
  }
  if (size === 0) await disk.unlink(path);
  else await truncate(disk, path, size);
  await disk.syncDirectory(directory);
}

/** Only the tail: a day file may be larger than memory. */
async function bytesFrom(disk: PartContext['disk'], path: string, from: number): Promise<Buffer> {
  const file = await disk.open(path, 'read');
  try {
    return await readAt(file, from, (await file.size()) - from);
  } finally {
    await file.close();
  }
}

async function truncate(disk: PartContext['disk'], path: string, size: number): Promise<void> {
  const file = await disk.open(path, 'append');
  try {
    await file.truncate(size);
    await file.datasync();
  } finally {
    await file.close();
  }
}
