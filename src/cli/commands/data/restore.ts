import { access, constants } from 'node:fs/promises';
import { SignageError } from '../../../domain/error.ts';
import { isDatabaseUrl, publicUrl } from '../../../domain/store-url.ts';
import {
  givenStore,
  storeFileSetting,
  storeSetting,
  warnOfPassword,
} from '../../connection/store-location.ts';
import { unusableFile } from '../../input/file-error.ts';
import * as option from '../../input/option.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { defineCommand, one } from '../../program/spec.ts';
import { withProgress } from '../../terminal/progress.ts';
import { countText } from '../../terminal/text.ts';

/** Throws `usage` if a path that the user named cannot be read. Does not read from a pipe. */
async function requireReadable(path: string, what: string): Promise<void> {
  await access(path, constants.R_OK).catch((error: unknown) => {
    throw unusableFile(error, path, { what });
  });
}

interface RestorePlan {
  path: string;
  place: string;
  media: string | undefined;
  webhooks: 'pause' | 'resume' | undefined;
}

/** Asks whether the webhooks of the backup are paused. Throws `usage` where nobody can answer. */
function askPausing({ prompter }: CommandContext, path: string): Promise<boolean> {
  if (!prompter.canAsk)
    throw usage(
      `${path} has active webhooks. Choose --webhooks pause if the service that took the backup may still run: two services would notify their receivers. Choose --webhooks resume if this store replaces it. Nothing was restored.`,
    );
  const message =
    'The backup has active webhooks. Pause them, because the service that took the backup may still run?';
  return prompter.confirm({ message, flag: '--webhooks', initial: true });
}

async function restoreInto(call: CommandContext, { path, place, media, webhooks }: RestorePlan) {
  const { restoreStore } = await import('../../../store/maintenance/restore.ts');
  const { readBackup } = await import('./read-backup.ts');
  const { readAwsSettings } = await import('../../connection/aws-settings.ts');
  const source = readBackup(call.interrupted, path);
  const { clock, interrupted } = call;
  try {
    return await withProgress(call, (show, erase) =>
      restoreStore(source, place, {
        name: path,
        pausesWebhooks: async () => {
          if (webhooks !== undefined) return webhooks === 'pause';
          erase();
          return askPausing(call, path);
        },
        media,
        aws: readAwsSettings(call.io),
        clock,
        signal: interrupted,
        onProgress: (records) => show(countText(records, 'record')),
      }),
    );
  } catch (error) {
    throw interrupted.aborted
      ? new SignageError('interrupted', 'The restore was interrupted.')
      : error;
  }
}

async function findUndone(folder: string, backupAt: string) {
  const { exportAuditAfter: auditAfter } = await import(
    '../../../store/maintenance/audit-export.ts'
  );
  const { undoneRevocations } = await import('./undone-revocations.ts');
  return undoneRevocations(auditAfter(folder, Date.parse(backupAt)));
}

export const restore = defineCommand({
  summary: 'Restore a backup into an empty data folder or database',
  description: `Checks the backup while reading it. A truncated or damaged backup is rejected with
the number of its first bad line, and nothing remains. At the end the restored store is dumped and
compared with the backup. All changes after the backup are lost. Device keys, tokens and tickets that
were revoked after the backup work again. With --audit, the command lists them with the commands that
revoke them again. --audit names the former data folder, or a copy of its audit folder. If the
backup has active webhooks, --webhooks says what becomes of them: a second service beside the
original would notify their receivers, too. Exit codes: 6 the backup cannot be used, 5 the folder or
database is in use or not empty.`,
  arguments: { file: one('the file written by data backup') },
  options: {
    data: option.text('--data <folder>', 'the data folder: empty, or not existing yet'),
    store: storeSetting,
    storeFile: storeFileSetting,
    audit: option.text('--audit <folder>', 'the former data folder'),
    webhooks: option.choice(
      ['pause', 'resume'],
      '--webhooks <what>',
      'pause active webhooks until signage webhook resume --all, or let them send on',
    ),
    media: option.text(
      '--media <place>',
      'where the media files of the backup go: a folder, or s3://bucket/prefix; default: the folder media in --data',
    ),
  },
  examples: [
    [
      'signage data restore monday.dump.gz --data ./signage-data',
      'then: signage serve --data ./signage-data',
    ],
    [
      'signage data restore monday.dump.gz --data ./trial --webhooks pause',
      'to try the backup beside the running service',
    ],
    [
      'signage data restore monday.dump.gz --data ./new --audit ./signage-data',
      'also lists what to revoke again',
    ],
    [
      'signage data restore monday.dump.gz --store-file database.url',
      'into an empty database; the file holds its URL',
    ],
  ],
  local: true,
  async run(call) {
    call.heedHangup();
    const { file } = call.args;
    const { data, audit, media, webhooks } = call.options;
    warnOfPassword(call.flags.store, 'SIGNAGE_STORE or --store-file', call.note);
    const place = restorePlace(await givenStore(call.options), data);
    await requireReadable(file, 'the backup');
    if (audit !== undefined) await requireReadable(audit, '--audit');
    const plan = { path: file, place, media, webhooks };
    const { at, counts, missingFiles, pausedWebhooks } = await restoreInto(call, plan);
    const records = Object.values(counts).reduce((sum, one) => sum + one, 0);
    const undone = audit === undefined ? undefined : await findUndone(audit, at);
    const { undoneNote } = await import('./undone-revocations.ts');
    for (const one of undone ?? []) call.note(undoneNote(one));
    const { noteMissingFiles } = await import('../../content/missing-files.ts');
    noteMissingFiles(call, missingFiles);
    if (undone === undefined)
      call.note(
        'Device keys, tokens and tickets that were revoked after the backup work again. To list them: --audit FOLDER',
      );
    call.note(
      'The backup has no readable token: the file admin-token is only in the former data folder. If nobody has a token, start the service once with --new-admin-token.',
    );
    if (pausedWebhooks > 0)
      call.note(
        `${countText(pausedWebhooks, 'webhook')} ${pausedWebhooks === 1 ? 'is' : 'are'} paused: no receiver is notified. When this service has replaced the original: signage webhook resume --all`,
      );
    const store = isDatabaseUrl(place) ? publicUrl(place) : place;
    const result = { backupAt: at, store, records, pausedWebhooks, ...(undone && { undone }) };
    await call.results.record(result, { columns: columns(), nameOf: () => store });
  },
});

/** Returns the folder or database to restore into. Throws `usage` unless exactly one is named. */
function restorePlace(store: string, data: string | undefined): string {
  if (store === 'memory') throw usage('Nothing can be restored into memory.');
  if (isDatabaseUrl(store) === (data !== undefined))
    throw usage('Name either the data folder (--data) or the database (--store-file).');
  return data ?? store;
}

type Result = { backupAt: string; store: string; records: number };

function columns() {
  return [
    { name: 'store', value: ({ store }: Result) => store },
    { name: 'backup of', value: ({ backupAt }: Result) => backupAt },
    { name: 'records', value: ({ records }: Result) => records },
  ];
}
