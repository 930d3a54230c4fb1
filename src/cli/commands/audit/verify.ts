import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { usage } from '../../options/settings.ts';
import { member } from '../../output/view.ts';
import {
  givenStore,
  showsPassword,
  storeFileSetting,
  storePlace,
  storeSetting,
} from '../../serve/store-location.ts';

const damagedExitCode = 9;

interface Found {
  level: string;
  writer: string | null;
  sequence: number | null;
  at: string | null;
  id: string | null;
  what: string;
}

export const command = defineCommand({
  summary: 'Verify that nobody has changed the audit trail',
  description: `Follows the chain of MACs over all entries, and names every entry that was changed, dropped, moved or inserted. Nothing is changed. It reads the
store itself: a data folder whose service is stopped (or a restored backup), or a database, whose service may run. Whoever has the server's secret can make another
trail that verifies. A head that is kept elsewhere finds that, too, and tells when the end was cut off or an older backup was restored.
Exit codes: 0 the trail is as it was written, 9 it is not, 5 the folder is in use, 6 the file of --head is none.`,
  options: {
    data: option.withVariable(
      'SIGNAGE_DATA',
      option.textOr('./signage-data', '--data <folder>', 'data folder'),
    ),
    store: storeSetting,
    storeFile: storeFileSetting,
    head: option.text('--head <file>', 'a head that was kept elsewhere: the trail must contain it'),
    saveHead: option.text(
      '--save-head <file>',
      'writes the head there if the trail verifies; keep it on another machine',
    ),
  },
  examples: [
    ['signage audit verify --data ./signage-data', 'the trail of a service that is stopped'],
    [
      'signage audit verify --store-file database.url --head head.json --save-head head.json',
      'the trail since the last time, and all before it',
    ],
    ['signage audit verify --data ./restored -o ndjson', 'for scripts'],
  ],
  effect: 'reads',
  local: true,
  async run(call) {
    const { data, head, saveHead } = call.options;
    if (showsPassword(call.flags))
      call.note(
        'The database password stands in the command line, for everybody on this machine to read: use --store-file.',
      );
    const place = storePlace({ store: await givenStore(call.options), data });
    if (place === 'memory:')
      throw usage('A store in memory cannot be verified: name a data folder or a database.');
    const [{ verifyAudit }, { readHead, writeHead }] = await Promise.all([
      import('../../../store/maintenance/verify-audit.ts'),
      import('../../audit/head-file.ts'),
    ]);
    const { findings, summary } = await verifyAudit(
      place,
      head === undefined ? undefined : await readHead(head),
    );
    await call.results.list(
      (async function* () {
        yield findings as readonly Found[];
      })(),
      {
        columns: [
          member('level'),
          member('writer'),
          member('sequence'),
          member('at'),
          member('id'),
          member('what'),
        ],
        nameOf: ({ id, what }) => id ?? what,
      },
    );
    const { entries, unlinked, first, head: end } = summary;
    const older =
      unlinked === 0 ? '' : `, ${unlinked} of them without a MAC, from an earlier version`;
    const span =
      first && end
        ? `; the chain goes from entry ${first.sequence} to ${end.sequence} of writer ${end.writer}, MAC ${end.mac}`
        : '';
    call.note(`${entries} entries${older}${span}.`);
    if (findings.some(({ level }) => level === 'damage')) {
      call.note(
        'The audit trail is not what was written. Keep the store as it is, and compare it with a backup.',
      );
      return damagedExitCode;
    }
    if (saveHead !== undefined && !end) call.note('There is no head to save yet.');
    if (saveHead !== undefined && end)
      await writeHead(saveHead, { ...end, savedAt: new Date(call.clock.now()).toISOString() });
    return 0;
  },
});
