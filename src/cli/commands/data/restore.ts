import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Call } from '../../call.ts';
import { defineCommand, one } from '../../command-spec.ts';
import * as option from '../../option.ts';
import { makeProgress } from '../../progress.ts';
import { usage } from '../../settings.ts';

async function requireReadable(path: string, what: string): Promise<void> {
  await access(path).catch((error: Error) => {
    throw usage(`${what} cannot be read: ${error.message}.`);
  });
}

async function restore(call: Call, path: string, folder: string) {
  const { restoreStore } = await import('../../../store/restore.ts');
  const { megabytes } = await import('../../data/megabytes.ts');
  const progress = makeProgress(call);
  try {
    const source = Readable.toWeb(createReadStream(path, { highWaterMark: 1 << 18 })) as ReadableStream<Uint8Array>;
    return await restoreStore(source, folder, (done, all) => progress.show(`${megabytes(done)} of ${megabytes(all)}`));
  } finally {
    progress.end();
  }
}

async function findUndone(folder: string, backupAt: string) {
  const { auditAfter } = await import('../../../store/audit-after.ts');
  const { undoneRevocations } = await import('../../data/undone-revocations.ts');
  return undoneRevocations(auditAfter(folder, Date.parse(backupAt)));
}

export const command = defineCommand({
  summary: 'Put a backup into an empty data folder',
  description: `The backup is checked while it is read: one that was cut short or damaged is refused, and nothing stays behind. What was changed after the
backup is undone: device keys and tokens that were revoked since then work again. --audit names the former data folder, or a copy of its folder
audit: those that it tells of are listed, with what to type.`,
  arguments: { file: one('the tar file that data backup made') },
  options: {
    data: option.needed('--data <folder>', 'the data folder: empty, or to be made'),
    audit: option.text('--audit <folder>', 'the former data folder'),
  },
  examples: [
    ['signage data restore monday.tar --data ./signage-data', 'then: signage serve --data ./signage-data'],
    ['signage data restore monday.tar --data ./new --audit ./signage-data', 'and what must be revoked again'],
  ],
  effect: 'reads',
  local: true,
  async run(call) {
    const { file } = call.args;
    const { data, audit } = call.options;
    await requireReadable(file, 'The backup');
    if (audit !== undefined) await requireReadable(audit, 'The folder of --audit');
    const { at, files, bytes } = await restore(call, file, data);
    const undone = audit === undefined ? undefined : await findUndone(audit, at);
    const { undoneNote } = await import('../../data/undone-revocations.ts');
    for (const one of undone ?? []) call.note(undoneNote(one));
    if (undone === undefined) call.note('Device keys and tokens that were revoked after the backup work again. --audit FOLDER lists them.');
    const result = { backupAt: at, data, files, bytes, ...(undone && { undone }) };
    await call.results.record(result, { columns: columns(), nameOf: () => data });
  },
});

type Result = { backupAt: string; data: string; files: number; bytes: number };

function columns() {
  return [
    { name: 'data', value: ({ data }: Result) => data },
    { name: 'backup of', value: ({ backupAt }: Result) => backupAt },
    { name: 'files', value: ({ files }: Result) => files },
    { name: 'bytes', value: ({ bytes }: Result) => bytes },
  ];
}
