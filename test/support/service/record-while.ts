import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordedExchange } from '../../../src/cli/commands/record/recording.ts';
import { type CliRun, runCli } from '../../cli/run-cli.ts';
import { temporaryFolder } from '../disk/temporary-folder.ts';
import type { FakeIo } from '../process/fake-io.ts';

/** The result of `signage record`. */
export interface Recorded extends CliRun {
  file: string;
  text: string;
  exchanges: RecordedExchange[];
}

/** Runs `signage record` while `work` sends requests through it, then sends SIGINT. */
export async function recordWhile(
  to: string,
  work: (url: string, io: FakeIo) => Promise<unknown>,
  { tty = false, more = [] as string[] } = {},
): Promise<Recorded> {
  const file = join(await temporaryFolder(), 'tv.ndjson');
  const argv = ['record', '--to', to, '--listen', '0', '--out', file, ...more];
  const run = await runCli(argv, {
    tty,
    async during(io) {
      const [, url = ''] =
        /this address:\s+(\S+)/.exec(await io.until(/this address:\s+\S+/)) ?? [];
      await work(url, io);
      io.signal('SIGINT');
    },
  });
  const text = await readFile(file, 'utf8');
  const exchanges = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  return Object.assign(run, { file, text, exchanges });
}
