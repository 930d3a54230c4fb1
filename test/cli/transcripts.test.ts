import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fault, replay } from './transcript.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const transcripts = readdirSync(folder, { encoding: 'utf8', recursive: true })
  .filter((path) => path.endsWith('.txt'))
  .sort();

describe('The commands print what the transcript shows (after a change, run with -u):', () => {
  it.each(transcripts)(
    'test/cli/%s',
    async (path) => {
      const file = folder + path;
      const now = await replay(await readFile(file, 'utf8'));
      expect(now).not.toMatch(/^(?: {2}|! ).*\b(?:mak|dak|clm|tkt|lgn)_\w{8}/m);
      await expect(now).toMatchFileSnapshot(file);
      expect(now).not.toContain(`\n${fault}`);
    },
    180_000,
  );
});
