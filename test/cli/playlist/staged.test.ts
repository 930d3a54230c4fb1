// signage playlist publish --staged: stages, limits, rollback, and continuing.
import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { item } from '../../support/service/content.ts';
import type { BoundTv, TestService } from '../../support/service/service.ts';
import { type Cli, type CliRun, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let count = 0;

beforeAll(async () => {
  ({ cli, service } = await startCli());
});

const media = (name: string) => item({ creativeUrl: `https://media.example.com/${name}.mp4` });

const publish = (id: string | undefined, name: string) =>
  service.manage('PUT', `/v1/screens/${id}/playlist`, { items: [media(name)] });

/** Returns version and media file of the playlist of a screen. */
async function shown(id: string | undefined) {
  const { status, body } = await service.manage('GET', `/v1/screens/${id}/playlist`);
  return status === 200
    ? `v${body.version} ${body.items[0].creativeUrl.split('/').at(-1)}`
    : status;
}

/** Creates four screens with a playlist. `ids` are in the order of publication. */
async function site() {
  const staged = `${++count}`;
  const { id: venueId } = await service.venue();
  const ids: string[] = [];
  for (let at = 1; at <= 4; at++) {
    const { id } = await service.screen({ venueId, name: `S${at}`, labels: { staged } });
    await publish(id, 'old');
    ids.push(id);
  }
  ids.sort((a, b) => (hash('sha256', a) < hash('sha256', b) ? -1 : 1));
  const folder = await temporaryFolder();
  await writeFile(`${folder}/new.json`, JSON.stringify({ items: [media('new')] }));
  const line = (...words: string[]) => [
    ...['playlist', 'publish', '--selector', `staged=${staged}`, '-f', `${folder}/new.json`],
    ...['--staged', '50%,100%', '--state', `${folder}/state.json`, '-o', 'ndjson', ...words],
  ];
  const now = () => Promise.all(ids.map(shown));
  return { ids, folder, line, now };
}

const asTv = ({ apiKey }: BoundTv, path: string, body?: unknown) =>
  fetch(`${service.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const sendError = async (tv: BoundTv) =>
  expect(
    (
      await asTv(tv, `/devices/${tv.deviceId}/events`, [
        { type: 'playback_error', timestamp: Date.now() },
      ])
    ).status,
  ).toBe(202);

const words = ({ ndjson }: CliRun) => ndjson.map(({ result }) => result);

// Each test has screens of its own, and waits for a stage most of its time.
describe.concurrent('signage playlist publish --staged', () => {
  it('publishes stage by stage, and changes nothing when run again', async () => {
    const { ids, line, now } = await site();
    const run = await cli(line('--hold', '1s'));
    expect([run.code, words(run)]).toEqual([0, Array(4).fill('published')]);
    expect(run.ndjson.map(({ id, version }) => [id, version])).toEqual(ids.map((id) => [id, 2]));
    expect(run.stderr).toContain('Publishing stage 1 of 2 (2 of 4 screens).');
    expect(run.stderr).toContain('Publishing stage 2 of 2 (4 of 4 screens).');
    const again = await cli(line('--hold', '1s'));
    expect([again.code, words(again)]).toEqual([0, Array(4).fill('unchanged')]);
    expect(await now()).toEqual(Array(4).fill('v2 new.mp4'));
  });

  it('9 at too many errors of the first stage; the other screens keep theirs', async () => {
    const { ids, line, now } = await site();
    const tv = await service.tv(ids[1]);
    const options = ['--hold', '1m', '--stop-on', 'errors>10%'];
    await sendError(tv); // Before the publication: does not count.
    const run = await cli(line(...options), {
      during: async (io) => {
        await io.until(/Publishing stage 1/);
        while ((await shown(ids[1])) !== 'v2 new.mp4');
        await sendError(tv);
      },
    });
    expect([run.code, words(run)]).toEqual([9, ['published', 'published']]);
    expect(run.stderr).toContain('errors>10%: 1 of 2 screens (50%)');
    expect(await now()).toEqual(['v2 new.mp4', 'v2 new.mp4', 'v1 old.mp4', 'v1 old.mp4']);
    const again = await cli(line(...options));
    expect([again.code, await shown(ids[2])]).toEqual([9, 'v1 old.mp4']);
    const undone = await cli(line(...options, '--rollback'));
    expect(undone.code).toBe(9);
    expect(undone.stderr).toContain('All screens have their earlier playlists again.');
    const restored = ['v3 old.mp4', 'v3 old.mp4', 'v1 old.mp4', 'v1 old.mp4'];
    expect(await now()).toEqual(restored);
    expect((await cli(line(...options, '--rollback'))).code).toBe(9);
    expect(await now()).toEqual(restored);
  }, 30_000);

  it('9 while TVs do not fetch; continues when they have', async () => {
    const { ids, line, now } = await site();
    const tv = await service.tv(ids[0]);
    const options = ['--hold', '1s', '--stop-on', 'unfetched>0%'];
    const run = await cli(line(...options));
    expect(run.code).toBe(9);
    expect(run.stderr).toContain('unfetched>0%: 1 of 1 screens (100%)');
    expect((await asTv(tv, `/devices/${ids[0]}/playlist`)).status).toBe(200);
    const again = await cli(line(...options));
    expect([again.code, words(again)]).toEqual([
      0,
      ['unchanged', 'unchanged', 'published', 'published'],
    ]);
    expect(await now()).toEqual(Array(4).fill('v2 new.mp4'));
  });

  it('--rollback withdraws where there was no playlist, and leaves what others published', async () => {
    const { ids, line, now } = await site();
    await service.manage('DELETE', `/v1/screens/${ids[0]}/playlist`);
    const tv = await service.tv(ids[1]);
    const run = await cli(line('--hold', '1m', '--stop-on', 'errors>0%', '--rollback'), {
      during: async (io) => {
        await io.until(/Publishing stage 1/);
        while ((await shown(ids[1])) !== 'v2 new.mp4');
        await publish(ids[1], 'other');
        await sendError(tv);
      },
    });
    expect(run.code).toBe(9);
    expect(run.stderr).toContain('1 screen could not be rolled back');
    expect(await now()).toEqual([404, 'v3 other.mp4', 'v1 old.mp4', 'v1 old.mp4']);
  }, 30_000);

  it('--rollback withdraws where the former playlist has expired meanwhile', async () => {
    const { ids, line, now } = await site();
    const validUntil = Math.ceil(Date.now() / 1000) + 4;
    const body = { items: [media('old')], validUntil };
    await service.manage('PUT', `/v1/screens/${ids[0]}/playlist`, body);
    await service.tv(ids[1]);
    const run = await cli(line('--hold', '5s', '--stop-on', 'unfetched>0%', '--rollback'));
    expect(run.code).toBe(9);
    expect(await now()).toEqual([404, 'v3 old.mp4', 'v1 old.mp4', 'v1 old.mp4']);
  });

  it('--rollback restores an end that was the only change', async () => {
    const { ids, folder, line } = await site();
    const ends = () =>
      Promise.all(
        ids.map(async (id) => {
          const { body } = await service.manage('GET', `/v1/screens/${id}/playlist`);
          return body.validUntil;
        }),
      );
    const items = [media('same')];
    for (const id of ids) await service.manage('PUT', `/v1/screens/${id}/playlist`, { items });
    await writeFile(`${folder}/new.json`, JSON.stringify({ items }));
    await service.tv(ids[1]);
    const limits = ['--hold', '1s', '--stop-on', 'unfetched>0%'];
    const options = ['--valid-until', '2099-12-24', ...limits];
    expect((await cli(line(...options))).code).toBe(9);
    expect(await ends()).toEqual([4101753600, 4101753600, null, null]);
    const undone = await cli(line(...options, '--rollback'));
    expect(undone.stderr).toContain('All screens have their earlier playlists again.');
    expect(await ends()).toEqual(Array(4).fill(null));
  });

  it('does not overwrite what others publish between two stages', async () => {
    const { ids, line, now } = await site();
    const run = await cli(line('--hold', '2s'), {
      during: async (io) => {
        await io.until(/Publishing stage 1/);
        await publish(ids[3], 'other');
      },
    });
    expect([run.code, words(run)]).toEqual([9, [...Array(3).fill('published'), 'failed']]);
    expect(run.ndjson[3].error).toContain('was changed after this command began');
    expect((await now())[3]).toBe('v2 other.mp4');
  });

  it('130 at Ctrl-C between two stages; the same command continues', async () => {
    const { ids, line, now } = await site();
    const run = await cli(line('--hold', '1h'), {
      during: async (io) => {
        await io.until(/Publishing stage 1/);
        while ((await shown(ids[1])) !== 'v2 new.mp4');
        io.signal('SIGINT');
      },
    });
    expect([run.code, words(run)]).toEqual([130, ['published', 'published']]);
    expect(run.stderr).toContain('The same command continues.');
    const again = await cli(line('--hold', '1s'));
    expect(again.code).toBe(0);
    expect(await now()).toEqual(Array(4).fill('v2 new.mp4'));
  });

  it('continues with the end of the first run when --valid-until is a time span', async () => {
    const { ids, line, folder } = await site();
    const end = async (id: string | undefined) =>
      (await service.manage('GET', `/v1/screens/${id}/playlist`)).body.validUntil;
    const clock = { ...systemClock, now: () => Date.now() - 3_600_000 };
    const first = await cli(line('--valid-until', '7d', '--hold', '1h'), {
      clock,
      during: async (io) => {
        await io.until(/Publishing stage 1/);
        while ((await shown(ids[1])) !== 'v2 new.mp4');
        io.signal('SIGINT');
      },
    });
    expect(first.code).toBe(130);
    const again = await cli(line('--valid-until', '7d', '--hold', '1s'));
    expect(again.code, again.stderr).toBe(0);
    expect(await Promise.all(ids.map(end))).toEqual(Array(4).fill(await end(ids[0])));
    const other = await cli(line('--valid-until', '8d', '--hold', '1s'));
    expect(other.stderr).toContain('belongs to the publication of another playlist');
    const body = { items: [media('new')], validUntil: '8d' };
    await writeFile(`${folder}/new.json`, JSON.stringify(body));
    expect((await cli(line('--hold', '1s'))).code).toBe(2);
  });

  it('refuses to continue with another playlist, and sends nothing under --dry-run', async () => {
    const { folder, line, now } = await site();
    const dry = await cli(line('--dry-run'));
    expect(dry.ndjson.map(({ method }) => method)).toEqual(['POST']);
    expect(await now()).toEqual(Array(4).fill('v1 old.mp4'));
    await cli(line('--hold', '1s'));
    await writeFile(`${folder}/new.json`, JSON.stringify({ items: [media('newer')] }));
    const other = await cli(line());
    expect([other.code, other.stdout]).toEqual([2, '']);
    expect(other.stderr).toContain('belongs to the publication of another playlist');
  });
});
