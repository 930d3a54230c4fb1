import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { SignageError } from '../../../domain/error.ts';
import type { CommandContext } from '../../command/context.ts';
import { defineCommand, one } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { usage } from '../../options/settings.ts';
import { makeProgress } from '../../terminal/progress.ts';

async function requireReadable(path: string, what: string): Promise<void> {
  await access(path).catch((error: Error) => {
    throw usage(`${what} cannot be read: ${error.message}.`);
  });
}

/** Yields the file in chunks. Fails as soon as the signal aborts, even while a pipe has no data. */
async function* readUntil(signal: AbortSignal, path: string): AsyncGenerator<Uint8Array> {
  const stream = createReadStream(path, { highWaterMark: 1 << 18 });
  const chunks = stream.iterator({ destroyOnReturn: false });
  const aborted = once(signal, 'abort').then(() => Promise.reject(new Error('it was interrupted')));
  aborted.catch(() => undefined);
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await Promise.race([chunks.next(), aborted]);
      if (done) return;
      yield value;
    }
  } finally {
    stream.destroy();
  }
}

async function restore(call: CommandContext, path: string, folder: string) {
  const { restoreStore } = await import('../../../store/maintenance/restore.ts');
  const { megabytes } = await import('../../data/take-backup.ts');
  const progress = makeProgress(call);
  try {
    return await restoreStore(readUntil(call.interrupted, path), folder, {
      name: path,
      onProgress: (done, all) => progress.show(`${megabytes(done)} of ${megabytes(all)}`),
    });
  } catch (error) {
    throw call.interrupted.aborted
      ? new SignageError('interrupted', 'The restore was interrupted.')
      : error;
  } finally {
    progress.end();
  }
}

async function findUndone(folder: string, backupAt: string) {
  const { exportAuditAfter: auditAfter } = await import(
    '../../../store/maintenance/audit-export.ts'
  );
  const { undoneRevocations } = await import('../../data/undone-revocations.ts');
  return undoneRevocations(auditAfter(folder, Date.parse(backupAt)));
}

export const command = defineCommand({
  summary: 'Restore a backup into an empty data folder',
  description: `Checks the backup while reading it. A truncated or damaged backup is rejected, and
no files remain. All changes after the backup are lost. Device keys and tokens that were revoked
after the backup work again. With --audit, the command lists them with the commands that revoke them
again. --audit names the former data folder, or a copy of its audit folder. Exit codes: 6 the backup
cannot be used, 5 the folder is in use or not empty.`,
  arguments: { file: one('the tar file written by data backup') },
  options: {
    data: option.required('--data <folder>', 'the data folder: empty, or not existing yet'),
    audit: option.text('--audit <folder>', 'the former data folder'),
  },
  examples: [
    [
      'signage data restore monday.tar --data ./signage-data',
      'then: signage serve --data ./signage-data',
    ],
    [
      'signage data restore monday.tar --data ./new --audit ./signage-data',
      'also lists what to revoke again',
    ],
  ],
  effect: 'reads',
  local: true,
  async run(call) {
    call.heedHangup();
    const { file } = call.args;
    const { data, audit } = call.options;
    await requireReadable(file, 'The backup');
    if (audit !== undefined) await requireReadable(audit, 'The folder of --audit');
    const { at, files, bytes } = await restore(call, file, data);
    const undone = audit === undefined ? undefined : await findUndone(audit, at);
    const { undoneNote } = await import('../../data/undone-revocations.ts');
    for (const one of undone ?? []) call.note(undoneNote(one));
    if (undone === undefined)
      call.note(
        'Device keys and tokens that were revoked after the backup work again. To list them: --audit FOLDER',
      );
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
