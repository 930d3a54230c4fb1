import { mediaFolder } from '../../../domain/media/media-keys.ts';
import type { FolderFinding } from '../../../store/json/repair/finding.ts';
import * as option from '../../input/option.ts';
import { usage } from '../../input/settings.ts';
import { member, members, type View } from '../../output/view.ts';
import { failedExitCode } from '../../program/exit-code.ts';
import { defineCommand, one } from '../../program/spec.ts';
import { withProgress } from '../../terminal/progress.ts';
import { countText } from '../../terminal/text.ts';
import { restore } from './restore.ts';

const backup = defineCommand({
  summary: 'Back up a running service',
  description: `Writes a dump of one consistent state of the whole store to a file. It contains
everything that was acknowledged before the backup began. Only you can read the file, because it
holds the server secret. The file appears only when it is complete. Existing files are never
overwritten. A file whose name ends in .gz is compressed. Needs a token of the role backup or
platform. The file is text, one record a line, the same for both kinds of store.`,
  options: {
    out: option.text('--out <file>', 'the new file; required'),
    withMedia: option.flag('--with-media', 'also the bytes of media files, not only their records'),
  },
  examples: [
    ['signage data backup --out monday.dump.gz', 'the service of the current context'],
    ['signage data backup --out monday.dump.gz --with-media', 'with all pictures and videos'],
    ['signage data backup --out monday.dump -o json', 'for scripts: prints file and size'],
    [
      'signage data backup --out "$(date +%F).dump.gz" && scp "$(date +%F).dump.gz" vault:',
      'copies the backup to another machine',
    ],
  ],
  effect: 'changes',
  async run(call) {
    const { out, withMedia } = call.options;
    if (out === undefined) throw usage('--out must be given: the new file.');
    const { takeBackup } = await import('./take-backup.ts');
    const taken = await takeBackup(call, out, withMedia);
    if (taken && call.common.output)
      await call.results.record(taken, {
        columns: members('file', 'bytes'),
        nameOf: () => taken.file,
      });
  },
});

const findingsView: View<FolderFinding> = {
  columns: [
    member('level'),
    member('section'),
    member('file'),
    member('offset'),
    member('lost'),
    member('what'),
  ],
  nameOf: ({ file }) => file,
};

const check = defineCommand({
  summary: 'Check a data folder for damage',
  description: `Reads the whole data folder of a stopped service and lists every damaged file with
the position of the damage, and the number of records that a repair would lose. It also reads old
events and audit entries, which a start of the service skips, and media files. It finds audit entries
that have a valid checksum but a wrong MAC. Changes nothing. Exit codes: 0 no damage, 9 the folder is
damaged or was tampered with, 5 the folder is in use: stop the service, or check a restored backup.`,
  arguments: { folder: one('the data folder') },
  examples: [
    ['signage data check ./signage-data', 'lists damage by file and offset'],
    ['signage data check ./signage-data -o ndjson', 'for scripts'],
  ],
  local: true,
  async run(call) {
    const { folder } = call.args;
    const { checkStore } = await import('../../../store/maintenance/check.ts');
    const findings = await checkStore(folder);
    await call.results.list([findings], findingsView);
    const damaged = findings.filter(({ level }) => level !== 'note');
    if (damaged.length === 0) {
      call.note(`${folder} is not damaged.`);
      return 0;
    }
    if (damaged.every(({ file }) => file.startsWith(`${mediaFolder}/`))) {
      call.note(
        `The store is not damaged, but ${countText(damaged.length, 'media file')} of ${folder} cannot be shown. Copy the files from a backup of the folder ${mediaFolder}, or start the service: signage media verify says how to upload them again.`,
      );
      return failedExitCode;
    }
    call.note(
      `${folder} is damaged. Restore a backup (signage data restore), or recover what is readable: signage data repair ${folder} --into NEW`,
    );
    return failedExitCode;
  },
});

const repair = defineCommand({
  summary: 'Recover a damaged data folder',
  description: `Reads every undamaged line of a damaged folder into a dump, and restores the dump into
a new folder. Of each row, the newest version wins that is still there. The damaged folder is not
changed. Prefer a recent backup, if you have one. The output lists what is damaged, and the number
of records that were lost; repair-<time>.json in the new folder holds the same list. After a gap, a
revocation may be among the lost changes. Device keys, tokens and pairing codes whose state cannot
be proved are therefore revoked and listed, unless --keep-unproved is given. Exit codes: 0 nothing
is lost, 9 data is lost or credentials were revoked, 5 a folder is in use or not empty.`,
  arguments: { folder: one('the damaged data folder') },
  options: {
    into: option.required('--into <new>', 'the new data folder: empty, or not existing yet'),
    keepUnproved: option.flag('--keep-unproved', 'keep credentials that may have been revoked'),
  },
  examples: [
    [
      'signage data repair ./signage-data --into ./repaired',
      'then: signage serve --data ./repaired',
    ],
  ],
  local: true,
  async run(call) {
    call.heedHangup();
    const { folder } = call.args;
    const { into, keepUnproved } = call.options;
    const { repairStore } = await import('../../../store/maintenance/repair.ts');
    const { clock, interrupted } = call;
    const findings = await withProgress(call, (show) =>
      repairStore(folder, into, {
        clock,
        keepUnproved,
        signal: interrupted,
        onProgress: (records) => show(countText(records, 'record')),
      }),
    );
    await call.results.list([findings], findingsView);
    const lost = findings.reduce((sum, one) => sum + (one.lost ?? 0), 0);
    const isUnknown = findings.some((one) => one.lost === null);
    const revoked = findings.filter(({ level }) => level === 'revoked').length;
    call.note(
      `${into} is ready to use. Records lost: ${lost}${isUnknown ? ', or more' : ''}. Credentials revoked: ${revoked}. ${folder} is unchanged.`,
    );
    return lost > 0 || isUnknown || revoked > 0 ? failedExitCode : 0;
  },
});

export const data = { backup, restore, check, repair };
