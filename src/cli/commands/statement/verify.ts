import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { SignageError } from '../../../domain/error.ts';
import { headHash, headTitle, readHead } from '../../../domain/statements/head.ts';
import { openNote, readVerifierKey } from '../../../domain/statements/signed-note.ts';
import { type SignedHead, verifyChain, verifyRows } from '../../../domain/statements/verify.ts';
import { unusableFile } from '../../input/file-error.ts';
import * as option from '../../input/option.ts';
import { readRegularBytes } from '../../input/read-file.ts';
import { usage } from '../../input/settings.ts';
import { members, type View } from '../../output/view.ts';
import { failedExitCode } from '../../program/exit-code.ts';
import { defineCommand, many } from '../../program/spec.ts';

interface Verdict {
  file: string;
  day?: string;
  number?: number;
  plays?: number;
  /** `null`: nothing. */
  wrong: string | null;
}

const view: View<Verdict> = {
  columns: [
    ...members<Verdict>('file', 'day', 'number', 'plays'),
    { name: 'wrong', value: ({ wrong }) => wrong, shown: ({ wrong }) => wrong ?? 'nothing' },
  ],
  nameOf: ({ file }) => file,
};

/** Yields the lines of a file. Each character is a byte. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(path, 'latin1')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

async function readNote(path: string): Promise<Buffer> {
  const note = await readRegularBytes(path).catch((error: unknown) => {
    throw unusableFile(error, path);
  });
  if (note.toString('utf8', 0, headTitle.length) === headTitle) return note;
  throw new SignageError(
    'invalid_file',
    `${path} is no statement: its first line is not "${headTitle}".`,
  );
}

export const verify = defineCommand({
  summary: 'Verify statements of plays, without a service',
  description: `Checks the signature of each statement, the rows in the .ndjson file beside it, and
that the statements of a campaign follow each other without a gap. Get the key from the seller once,
by another way than the statements. Exit codes: 0 all is as it was sealed, 9 something is wrong, 6 a
file is no statement.`,
  arguments: { files: many('statements: their .note files, and the .ndjson files beside them') },
  options: { key: option.required('--key <vkey>', 'the key that verifies, name+id+base64') },
  examples: [
    ['signage statement verify summer.*.note --key "$VKEY"', 'all statements of a campaign'],
    ['signage statement verify mine.note theirs.note --key "$VKEY"', 'whether both were signed'],
  ],
  local: true,
  async run(call) {
    const key = readVerifierKey(call.options.key.trim());
    if (!key) throw usage('--key must be the key that signage statement key prints.');
    const verdicts: Verdict[] = [];
    const heads: (SignedHead & { verdict: Verdict })[] = [];
    for (const file of new Set(call.args.files.map((path) => path.replace(/ndjson$/, 'note')))) {
      const text = openNote(await readNote(file), key);
      if (text === undefined) {
        verdicts.push({ file, wrong: `its head is not what ${key.name} has signed` });
        continue;
      }
      const head = readHead(text);
      const rows = file.replace(/note$/, 'ndjson');
      const wrong = await access(rows).then(
        () => verifyRows(linesOf(rows), head),
        () => `its rows are missing: ${rows}`,
      );
      const { day, number, plays } = head;
      const figures = { day, number: Number(number), plays: Number(plays) };
      const verdict: Verdict = { file, ...figures, wrong: wrong ?? null };
      verdicts.push(verdict);
      heads.push({ head, hash: headHash(text), verdict });
    }
    for (const [{ verdict }, wrong] of verifyChain(heads)) verdict.wrong = wrong;
    await call.results.list([verdicts], view);
    return verdicts.some(({ wrong }) => wrong !== null) ? failedExitCode : 0;
  },
});
