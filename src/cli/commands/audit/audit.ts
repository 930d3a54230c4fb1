import {
  givenStore,
  storeFileSetting,
  storePlace,
  storeSetting,
  warnOfPassword,
} from '../../connection/store-location.ts';
import * as option from '../../input/option.ts';
import { usage } from '../../input/settings.ts';
import { readRange } from '../../input/time.ts';
import { member } from '../../output/view.ts';
import { failedExitCode } from '../../program/exit-code.ts';
import { defineCommand } from '../../program/spec.ts';
import { auditView } from '../../records/views/history-views.ts';

const list = defineCommand({
  summary: 'List who changed what, newest first',
  options: {
    action: option.text('--action <action>', 'only this action, such as device.revoke'),
    subject: option.text('--subject <id>', 'only changes of the record with this id'),
    since: option.text(
      '--from, --since <time>',
      'from this time on: 2h for two hours ago, 2026-11-20 or 2026-11-20T08:00:00Z',
    ),
    until: option.text('--to, --until <time>', 'before this time, in the same formats'),
  },
  examples: [
    ['signage audit list --limit 20', 'the latest changes'],
    [
      'signage audit list --action device.revoke --since 7d',
      'devices revoked in the last seven days',
    ],
    [
      'signage audit list --since 2026-11-01 --until 2026-12-01 -o ndjson',
      'one month, one JSON object per line',
    ],
  ],
  list: true,
  async run(call) {
    const { action, subject } = call.options;
    const { from, to } = readRange(call);
    const query = { action, subjectId: subject, from, to };
    if (await call.list('listAudit', auditView, { query })) return;
    const { noteUnknownAction } = await import('../../records/unknown-words.ts');
    await noteUnknownAction(call, action);
  },
});

const verify = defineCommand({
  summary: 'Verify that the audit trail was not changed',
  description: `Checks the chain of MACs over all entries. Lists every entry that was changed,
deleted, moved or inserted. Changes nothing. It reads the store directly: the data folder of a
stopped service, a restored backup, or a database, whose service may keep running. Anyone who has
the server secret can forge a trail that verifies. A head that you keep on another machine detects
this. It also detects a truncated trail and a restored older backup. Exit codes: 0 the trail is
intact, 9 it was changed, 5 the folder is in use, 6 the file given with --head is not a saved head.`,
  options: {
    data: option.withVariable(
      'SIGNAGE_DATA',
      option.textOr('./signage-data', '--data <folder>', 'data folder'),
    ),
    store: storeSetting,
    storeFile: storeFileSetting,
    head: option.text('--head <file>', 'a head that you saved before: the trail must contain it'),
    saveHead: option.text(
      '--save-head <file>',
      'write the head to this file if the trail is intact; keep it on another machine',
    ),
  },
  examples: [
    ['signage audit verify --data ./signage-data', 'the trail of a stopped service'],
    [
      'signage audit verify --store-file database.url --head head.json --save-head head.json',
      'compares with the saved head, then saves the new one',
    ],
    ['signage audit verify --data ./restored -o ndjson', 'for scripts'],
  ],
  local: true,
  async run(call) {
    const { data, head, saveHead } = call.options;
    warnOfPassword(call.flags.store, '--store-file', call.note);
    const place = storePlace({ store: await givenStore(call.options), data });
    if (place === 'memory:')
      throw usage('A store in memory cannot be verified. Name a data folder or a database.');
    const [{ verifyAudit }, { readHead, writeHead }] = await Promise.all([
      import('../../../store/maintenance/check.ts'),
      import('./head-file.ts'),
    ]);
    const { findings, summary } = await verifyAudit(
      place,
      head === undefined ? undefined : await readHead(head),
    );
    await call.results.list([findings], {
      columns: [
        member('level'),
        member('writer'),
        member('sequence'),
        member('at'),
        member('id'),
        member('what'),
      ],
      nameOf: ({ id, what }) => id ?? what,
    });
    const { entries, first, head: end } = summary;
    const span =
      first && end
        ? `; the chain runs from entry ${first.sequence} to ${end.sequence} of writer ${end.writer}, MAC ${end.mac}`
        : '';
    call.note(`${entries} entries${span}.`);
    if (findings.some(({ level }) => level === 'damage')) {
      call.note(
        'The audit trail was changed. Keep the store as it is, and compare it with a backup.',
      );
      return failedExitCode;
    }
    if (saveHead !== undefined && !end) call.note('There is no head to save yet.');
    if (saveHead !== undefined && end)
      await writeHead(saveHead, { ...end, savedAt: new Date(call.clock.now()).toISOString() });
    return 0;
  },
});

export const audit = { list, verify };
