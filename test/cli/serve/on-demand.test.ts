import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { json, type StubService, stubService } from '../../support/network/stub-service.ts';
import { item } from '../../support/service/content.ts';
import { recordMaker } from '../../support/service/management.ts';
import { adminToken, managerAt, sendTo } from '../../support/service/service.ts';
import { cliOf } from '../run-cli.ts';
import { servingInMemory } from './serving.ts';

let source: StubService;
beforeEach(async () => {
  source = await stubService(json(200, { items: [item()] }));
});

async function tokenFile(token: string): Promise<string> {
  const file = join(await temporaryFolder(), 'token');
  await writeFile(file, token);
  return file;
}

/** Pairs a TV. Returns the source of its playlist. */
async function play(url: string) {
  const make = recordMaker(() => managerAt(url));
  const { id: venueId } = await make.venue({ name: crypto.randomUUID() });
  const { code, screenId } = await make.code((await make.screen({ venueId })).id);
  const body = { pairingCode: code, deviceInfo: {} };
  const { apiKey: key } = (await sendTo(url, 'POST', '/devices/register', { body })).body;
  const { headers } = await sendTo(url, 'GET', `/devices/${screenId}/playlist`, { key });
  return { from: headers.get('x-source'), screenId };
}

const tokensHeard = () => source.heard.map(({ headers }) => headers.authorization);

describe('signage serve --on-demand-url', () => {
  it('requests playlists from the URL, with the token of a file', async () => {
    const place = ['--on-demand-url', `${source.url}/{screenId}`];
    const token = ['--on-demand-token-file', await tokenFile('from-a-file\n')];
    const { url, io } = await servingInMemory([...place, ...token]);
    const { from, screenId } = await play(url);
    expect(from).toBe('on-demand');
    expect(source.heard).toMatchObject([{ url: `/${screenId}` }]);
    expect(tokensHeard()).toEqual(['Bearer from-a-file']);
    expect(io.out() + io.err()).not.toContain('from-a-file');
  });

  it('takes URL and token from the environment, but prefers a token file', async () => {
    const env = {
      SIGNAGE_ON_DEMAND_URL: `${source.url}/all`,
      SIGNAGE_ON_DEMAND_TOKEN: 'from-the-environment',
    };
    await play((await servingInMemory([], env)).url);
    const token = ['--on-demand-token-file', await tokenFile('from-a-file')];
    await play((await servingInMemory(token, env)).url);
    expect(tokensHeard()).toEqual(['Bearer from-the-environment', 'Bearer from-a-file']);
  });

  it('works without a token', async () => {
    await play((await servingInMemory(['--on-demand-url', source.url])).url);
    expect(tokensHeard()).toEqual([undefined]);
  });

  it('warns when the token would cross the network unencrypted', async () => {
    const env = { SIGNAGE_ON_DEMAND_TOKEN: 'anything' };
    const remote = await servingInMemory(['--on-demand-url', 'http://ads.example/'], env);
    expect(remote.io.err()).toContain('in clear');
    const local = await servingInMemory(['--on-demand-url', source.url], env);
    expect(local.io.err()).not.toContain('in clear');
  });
});

describe('signage doctor', () => {
  it('0 with a warning that names the error of a failing on-demand source', async () => {
    source.answers = [json(503, {})];
    const { url } = await servingInMemory(['--on-demand-url', source.url]);
    await play(url);
    const rows = async () => {
      const run = await cliOf({ url }, adminToken)(['doctor', '-o', 'json']);
      expect(run.code).toBe(0);
      return Object.fromEntries(run.json.map((row: { check: string }) => [row.check, row]));
    };
    const failing = /^It fails since .*: origin_status_503 .*The service uses the next origin\.$/;
    expect((await rows())['origin/on-demand']).toMatchObject({
      status: 'warn',
      detail: expect.stringMatching(failing),
    });
    for (let n = 0; n < 4; n++) await play(url);
    expect((await rows())['origin/on-demand']).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('Its circuit breaker is open'),
    });
  });
});
