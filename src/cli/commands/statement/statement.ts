import { randomBytes } from 'node:crypto';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CallAnswer, ListItem } from '../../../client/call.ts';
import { SignageError } from '../../../domain/error.ts';
import { readHead } from '../../../domain/statements/head.ts';
import { readSigner, signingKeyText } from '../../../domain/statements/signed-note.ts';
import { reserveFile } from '../../connection/private-file.ts';
import { unusableFile } from '../../input/file-error.ts';
import * as option from '../../input/option.ts';
import { readRegularFile } from '../../input/read-file.ts';
import { usage } from '../../input/settings.ts';
import { members, type View, wideMembers } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { defineCommand, one, optional } from '../../program/spec.ts';
import { verify } from './verify.ts';

type Statement = ListItem<'listStatements'>;
type Log = CallAnswer<'startStatements'>;

const view: View<Statement> = {
  columns: [
    ...members<Statement>('campaignId', 'day', 'number', 'plays', 'sealedAt'),
    ...wideMembers<Statement>('id', 'note'),
  ],
  nameOf: ({ id }) => id,
};
const logView: View<Log> = {
  columns: members<Log>('campaignId', 'settleHours', 'from', 'to', 'nextDay', 'number', 'problem'),
  nameOf: ({ campaignId }) => campaignId,
};
const campaign = option.required('--campaign <campaign>', 'the campaign, by name or id');

const readLogs = async (call: CommandContext) =>
  (await call.read('listStatements', { query: { limit: 1 } })).logs;

const key = defineCommand({
  summary: 'Show the keys that verify statements, or make a key that signs',
  description: `Prints each key that has signed statements of the tenant, for signage statement
verify. signage statement key new FILE writes a new signing key to a file that only you can read,
for signage serve --statement-key-file. It never overwrites a file, and no backup has the key.`,
  arguments: { action: optional('new'), file: optional('the new file') },
  options: { name: option.text('--name <name>', 'with new: who signs, such as ads.example.com') },
  examples: [
    ['signage statement key', 'for buyers'],
    ['signage statement key new statement.key --name ads.example.com', 'a new key to sign with'],
  ],
  async run(call) {
    const { action, file } = call.args;
    if (action === undefined) {
      const keys = [...new Set((await readLogs(call)).flatMap((log) => log.keys))];
      const rows = keys.map((one) => ({ key: one }));
      await call.results.list([rows], { columns: members('key'), nameOf: (row) => row.key });
      return;
    }
    const text = signingKeyText(call.options.name ?? '', randomBytes(32));
    if (action !== 'new' || file === undefined || !readSigner(text))
      throw usage('Give: signage statement key new FILE --name NAME, a name without spaces and +.');
    await (await reserveFile(file, 'statement key new')).write(text);
    call.note(`The key is in ${file}. Keep a copy in another place: no backup has it.`);
  },
});

const start = defineCommand({
  summary: 'Start the statements of a campaign',
  description: `From then on, each day of the campaign is sealed once, when --settle has passed since
its end in all time zones. Again for the same campaign, it changes --settle and --to.`,
  options: {
    campaign,
    settle: option.duration('72h', '--settle <time>', 'how long to wait for plays after a day'),
    from: option.day('--from <day>', 'the first day (default: today)'),
    to: option.day('--to <day>', 'the day after the last one (default: none)'),
  },
  examples: [['signage statement start --campaign summer --settle 48h', 'seals from today on']],
  effect: 'changes',
  async run(call) {
    const { settle, ...body } = call.options;
    const settleHours = Math.ceil(settle / 3_600_000);
    const made = await call.change('startStatements', { body: { ...body, settleHours } });
    if (made) await call.results.record(made.answer, logView);
  },
});

const list = defineCommand({
  summary: 'List statements, and say why none is sealed',
  options: { campaign: option.text('--campaign <campaign>', 'only this one, by name or id') },
  examples: [['signage statement list --campaign summer', 'the statements of a campaign']],
  list: true,
  async run(call) {
    await call.list('listStatements', view, { query: call.options });
    for (const { campaignId, problem } of await readLogs(call))
      if (problem !== null) call.note(`${campaignId}: ${problem}`);
  },
});

const get = defineCommand({
  summary: 'Show a statement with its signed head',
  arguments: { campaign: one('the campaign, by name or id'), number: one('its number') },
  examples: [['signage statement get summer 12 --jq .note', 'the signed head of number 12']],
  async run(call) {
    const query = { campaign: call.args.campaign };
    for (const found of await call.all('listStatements', { query }))
      if (String(found.number) === call.args.number) return call.results.record(found, view);
    throw new SignageError('statement_not_found', 'There is no statement with this number.');
  },
});

const exportStatements = defineCommand({
  summary: 'Write the statements of a campaign to files',
  description: `Writes CAMPAIGN.DAY.NUMBER.note and, with its rows, CAMPAIGN.DAY.NUMBER.ndjson for
each statement whose files are not there yet. Rows are kept as long as events.`,
  options: { campaign, out: option.textOr('.', '--out <folder>', 'where to write them') },
  examples: [['signage statement export --campaign summer --out statements', 'for its buyer']],
  async run(call) {
    const { campaign: named, out } = call.options;
    for (const { id, day, number, note } of await call.all('listStatements', {
      query: { campaign: named },
    })) {
      const path = join(out, `${named.replaceAll(/[^\w.-]+/gu, '-')}.${day}.${number}`);
      const isThere = await access(`${path}.note`).then(
        () => true,
        () => false,
      );
      if (isThere) continue;
      const rows = `/v1/statements/rows?id=${encodeURIComponent(id)}`;
      try {
        const reply = await call.send('GET', rows, undefined, { streamed: true });
        await writeFile(`${path}.ndjson`, reply?.stream ?? []);
      } catch (error) {
        if (!(error instanceof SignageError))
          throw unusableFile(error, path, { access: 'written' });
        if (error.code !== 'statement_not_found') throw error;
        call.note(`${path}.ndjson is not written: ${error.message}`);
      }
      await writeFile(`${path}.note`, note);
      call.note(`${path}.note`);
    }
  },
});

const resume = defineCommand({
  summary: 'Continue statements after a restore, or start a new log',
  description: `After a restore, the service seals nothing, because newer statements may have been
lost. Give the newest one that was exported: the next one follows it. If it is lost, or the key was
replaced, start another log, whose statements have a key with another name.`,
  options: {
    last: option.text('--last <file>', 'the newest .note file of the campaign'),
    campaign: option.text('--campaign <campaign>', 'with --new-log: the campaign'),
    newLog: option.text('--new-log <name>', 'the name of another log, such as 2027'),
  },
  examples: [
    ['signage statement resume --last summer.2026-11-20.12.note', 'continues with number 13'],
    ['signage statement resume --campaign summer --new-log 2', 'begins again with number 1'],
  ],
  effect: 'changes',
  async run(call) {
    const { last: file, newLog, campaign: named } = call.options;
    const last =
      file &&
      (await readRegularFile(file).catch((error: unknown) => {
        throw unusableFile(error, file, { what: '--last' });
      }));
    const of = last ? readHead(last).campaign : named;
    if (of === undefined) throw usage('Give --last, or --campaign and --new-log.');
    const made = await call.change('resumeStatements', { body: { campaign: of, last, newLog } });
    if (made) await call.results.record(made.answer, logView);
  },
});

export const statement = { key, start, list, get, export: exportStatements, verify, resume };
