// signage playlist rollback … previous, for one and for many screens.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { item } from '../../support/service/content.ts';
import type { TestService } from '../../support/service/service.ts';
import { type Cli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let count = 0;

beforeAll(async () => {
  ({ cli, service } = await startCli());
});

const good = item({ creativeUrl: 'https://media.example.com/good.mp4' });
const bad = item({ creativeUrl: 'https://media.example.com/bad.mp4' });

const publish = (id: string | undefined, content: object) =>
  service.manage('PUT', `/v1/screens/${id}/playlist`, { items: [content] });

/** Returns version and media file of the playlist of a screen. */
async function shown(id: string | undefined) {
  const { status, body } = await service.manage('GET', `/v1/screens/${id}/playlist`);
  return status === 200
    ? `v${body.version} ${body.items[0].creativeUrl.split('/').at(-1)}`
    : status;
}

/** Creates a venue with screens that have a good playlist, and then a bad one. */
async function site(screens = 3) {
  const label = `site=${++count}`;
  const venue = `Rolled ${count}`;
  const { id: venueId } = await service.venue({ name: venue });
  const ids: string[] = [];
  for (let at = 1; at <= screens; at++) {
    const { id } = await service.screen({ venueId, name: `S${at}`, labels: { site: `${count}` } });
    await publish(id, good);
    await publish(id, bad);
    ids.push(id);
  }
  const state = `${await temporaryFolder()}/rollback.json`;
  const line = ['playlist', 'rollback', 'previous', '--selector', label, '--state', state];
  return { venue, venueId, label, ids, state, line: [...line, '-o', 'ndjson'] };
}

const resultsOf = ({ ndjson }: Awaited<ReturnType<Cli>>) => ndjson.map(({ result }) => result);

describe('signage playlist rollback previous for several screens', () => {
  it('finishes what failed when it is run again', async () => {
    const { ids, line } = await site(2);
    const validUntil = Math.ceil(Date.now() / 1000) + 1;
    await service.manage('PUT', `/v1/screens/${ids[0]}/playlist`, { items: [good], validUntil });
    await publish(ids[0], item());
    await sleep(2000);
    const first = await cli(line);
    expect([first.code, resultsOf(first)]).toEqual([9, ['failed', 'rolled back']]);
    expect(first.ndjson[0].error).toMatch(/^The earlier version has expired\. .*--valid-until/);
    const second = await cli([...line, '--valid-until', 'none']);
    expect([second.code, resultsOf(second)]).toEqual([0, ['rolled back', 'unchanged']]);
    expect(await Promise.all(ids.map(shown))).toEqual(['v5 good.mp4', 'v3 good.mp4']);
  });

  it('records the earlier versions beside the contexts without --state', async () => {
    const { ids, line } = await site(2);
    const home = await temporaryFolder();
    const env = { XDG_CONFIG_HOME: home };
    const words = line.filter((word, at) => word !== '--state' && line[at - 1] !== '--state');
    const run = await cli(words, { env });
    expect([run.code, resultsOf(run)]).toEqual([0, ['rolled back', 'rolled back']]);
    const [name = ''] = await readdir(join(home, 'signage'));
    expect(run.stderr).toContain(`recorded in ${join(home, 'signage', name)}`);
    const again = await cli([...words, '--state', join(home, 'signage', name)], { env });
    expect(resultsOf(again)).toEqual(['unchanged', 'unchanged']);
    expect(await Promise.all(ids.map(shown))).toEqual(['v3 good.mp4', 'v3 good.mp4']);
  });

  it('does not overwrite what others published after it began', async () => {
    const { ids, state, line } = await site(3);
    const other = item({ creativeUrl: 'https://media.example.com/other.mp4' });
    await cli([...line, '--dry-run']);
    await expect(stat(state)).rejects.toThrow('ENOENT');
    await cli(line);
    const saved = JSON.parse(await readFile(state, 'utf8'));
    // As if the first run had ended before the last two screens.
    saved.screens[1] = { ...saved.screens[1], version: 3, changedTo: undefined };
    await writeFile(state, JSON.stringify(saved));
    await publish(ids[1], other);
    await service.manage('DELETE', `/v1/screens/${ids[2]}/playlist`);
    const run = await cli(line);
    expect([run.code, resultsOf(run)]).toEqual([9, ['unchanged', 'failed', 'unchanged']]);
    expect(run.ndjson[1].error).toMatch(/was changed after this command began/);
    expect(await Promise.all(ids.map(shown))).toEqual(['v3 good.mp4', 'v4 other.mp4', 404]);
  });
});
