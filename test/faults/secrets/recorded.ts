import { join } from 'node:path';
import { serve } from '../../../src/serve.ts';
import { runCli } from '../../cli/run-cli.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { filesIn, type Place } from './checker.ts';

/**
 * Returns a replacement of `serve` whose services are reached through `signage record`, and what
 * the recorder wrote and showed. Call `places` after the service was closed.
 */
export async function serveRecorded(): Promise<{
  start: typeof serve;
  places(): Promise<Place[]>;
}> {
  const folder = await temporaryFolder();
  const shown: Place[] = [];
  const start: typeof serve = async (options) => {
    const running = await serve(options);
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    let listening = (_url: string) => {};
    const url = new Promise<string>((resolve) => {
      listening = resolve;
    });
    const out = join(folder, `${shown.length}.ndjson`);
    const recorder = runCli(['record', '--to', running.url, '--listen', '0', '--out', out], {
      async during(io) {
        const text = await io.until(/this address: \S+/);
        listening(/this address: (\S+)/.exec(text)?.[1] ?? '');
        await ended;
        io.signal('SIGINT');
      },
    });
    const close = async () => {
      end();
      const { stdout, stderr } = await recorder;
      shown.push({ where: 'the output of signage record', contents: stdout + stderr });
      await running.close();
    };
    return { ...running, url: await url, close };
  };
  return { start, places: async () => [...shown, ...(await filesIn(folder))] };
}
