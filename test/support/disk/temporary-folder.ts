import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEachFile } from '../runtime/clean-up.ts';

const made: string[] = [];

afterEachFile(() =>
  Promise.all(made.splice(0).map((folder) => rm(folder, { recursive: true, force: true }))),
);

/** Creates a folder that is deleted after the tests of the file. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'signage-test-'));
  made.push(folder);
  return folder;
}
