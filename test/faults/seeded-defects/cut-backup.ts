import { createHash } from 'node:crypto';
import { lineOf } from '../../../src/store/dump/dump.ts';
import { bytesOf, recordsIn, streamOf } from '../../store/dump/backup-load.ts';

/** Returns a valid backup that lacks the last screen. */
export async function cutBackup(
  backup: ReadableStream<Uint8Array>,
): Promise<ReadableStream<Uint8Array>> {
  const records = recordsIn(await bytesOf(backup));
  const cut = records.findLastIndex(({ section }) => section === 'screens');
  const { counts } = records.at(-1).end;
  if (cut < 0) return streamOf(Buffer.from(records.map(textOf).join('')));
  const { screens } = counts;
  // The members keep their order.
  const fewer = Object.fromEntries(
    Object.entries({ ...counts, screens: screens - 1 }).filter(([, count]) => count !== 0),
  );
  const text = records.toSpliced(cut, 1).slice(0, -1).map(textOf).join('');
  const sha256 = createHash('sha256').update(text).digest('hex');
  return streamOf(Buffer.from(text + textOf({ end: { counts: fewer, sha256 } })));
}

const textOf = (record: object) => lineOf(JSON.stringify(record));
