import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startCli } from '../run-cli.ts';

const page = await readFile(new URL('../../../docs/schedules.md', import.meta.url), 'utf8');
const block = (start: RegExp) =>
  [...page.matchAll(/^```\w+\n(.*?)^```$/gms)]
    .map(([, text = '']) => text)
    .find((text) => start.test(text)) ?? '';

const picture = '<svg xmlns="http://www.w3.org/2000/svg"><text y="9">Soup</text></svg>';
const breakfast = `items:
  - creativeId: 11111111-1111-4111-8111-111111111111
    creativeUrl: https://media.example.com/breakfast.mp4
    creativeType: video
    duration: 15
`;

let run: Awaited<ReturnType<typeof startCli>>['cli'];
let week: string;
beforeEach(async () => {
  const folder = await temporaryFolder();
  week = join(folder, 'week.yaml');
  await writeFile(week, block(/^entries:/));
  await writeFile(join(folder, 'breakfast.yaml'), breakfast);
  // Different pictures, so that they are different files.
  for (const name of ['closed', 'lunch', 'happy-hour'])
    await writeFile(join(folder, `${name}.svg`), picture.replace('Soup', name));
  ({ cli: run } = await startCli());
});

describe('docs/schedules.md', () => {
  it('shows the picture of its week', async () => {
    const zone = ['--timezone', 'Europe/Berlin', '--from', '2026-12-21'];
    const { stdout, code } = await run(['schedule', 'preview', '-f', week, ...zone]);
    expect(code).toBe(0);
    expect(block(/^2026, /)).toBe(stdout);
  });

  // Once Christmas is over, a warning says so.
  it('has a week without mistakes', async () => {
    const zone = ['--timezone', 'Europe/Berlin', '-o', 'json'];
    const { json, code } = await run(['schedule', 'check', '-f', week, ...zone]);
    expect(code).toBe(0);
    expect(json.filter(({ level }: { level: string }) => level === 'error')).toEqual([]);
  });

  it.each([
    ['Tuesday at 8', '2026-11-24T07:00:00Z', 'Breakfast'],
    ['Tuesday at 11', '2026-11-24T10:00:00Z', 'Lunch'],
    ['Tuesday at 15', '2026-11-24T14:00:00Z', null],
    ['Saturday before midnight', '2026-11-28T22:30:00Z', 'Happy hour'],
    ['Sunday at 1', '2026-11-29T00:30:00Z', 'Happy hour'],
    ['Sunday at 2', '2026-11-29T01:00:00Z', null],
    ['Sunday at noon', '2026-11-29T11:00:00Z', 'Closed'],
    ['Christmas Eve at noon', '2026-12-24T11:00:00Z', 'Christmas'],
    ['the end of 26 December', '2026-12-26T23:30:00Z', 'Christmas'],
    ['27 December at noon', '2026-12-27T11:00:00Z', 'Closed'],
  ])('plays what it says on %s', async (_, at, entryId) => {
    await run(['venue', 'create', '--name', 'Cafe', '--timezone', 'Europe/Berlin']);
    await run(['screen', 'create', 'Cafe/Window']);
    expect((await run(['schedule', 'set', '--venue', 'Cafe', '-f', week])).code).toBe(0);
    const days = ['--from', '2026-11-23', '--days', '40', '-o', 'json'];
    const { json } = await run(['schedule', 'preview', 'Cafe/Window', ...days]);
    const span = json.find(({ until }: { until: string }) => Date.parse(at) < Date.parse(until));
    expect(span.entryId).toBe(entryId);
  });
});
