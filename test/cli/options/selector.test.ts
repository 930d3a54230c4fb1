// --selector of signage screen list and device list, also against a service that does not know it.
import { beforeAll, describe, expect, it } from 'vitest';
import { problem, type StubService, stubService } from '../../support/network/stub-service.ts';
import { adminToken } from '../../support/service/service.ts';
import { type Cli, cliOf, startCli } from '../run-cli.ts';

let older: StubService;

const message = 'is not a known query parameter: check its spelling';
const refusal = problem(400, 'invalid_request', `query.selector: ${message}`, {
  errors: [{ path: 'query.selector', message }],
});

/** Starts a proxy that answers selectors as services of earlier versions do. */
function olderService(url: string): Promise<StubService> {
  return stubService(async (response, request) => {
    if (request.url.includes('selector=')) return refusal(response, request);
    const headers = { authorization: request.headers.authorization ?? '' };
    const answer = await fetch(`${url}${request.url}`, { headers });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(await answer.text());
  });
}

const clis: Record<string, Cli> = {};
const deviceOf: Record<string, string> = {};

beforeAll(async () => {
  const { service, cli } = await startCli();
  older = await olderService(service.url);
  clis['a service'] = cli;
  clis['a service of an earlier version'] = cliOf(older, adminToken);
  const north = (await service.venue({ name: 'North', labels: { city: 'Accra' } })).id;
  const south = (await service.venue({ name: 'South', labels: { city: 'Kumasi' } })).id;
  const places: [string, string, object][] = [
    [north, 'Menu', { role: 'menu', floor: '1' }],
    [north, 'Wall', { role: 'wall', beta: '' }],
    [south, 'Menu', { role: 'menu', note: 'a (b)' }],
  ];
  for (const [venueId, name, labels] of places) {
    const { id } = await service.screen({ venueId, name, labels });
    deviceOf[`${venueId === north ? 'North' : 'South'}/${name}`] = (await service.tv(id)).deviceId;
  }
});

const lines = ({ code, stdout, stderr }: Awaited<ReturnType<Cli>>) => {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').slice(0, -1).toSorted();
};

describe.each(['a service', 'a service of an earlier version'])('--selector with %s', (which) => {
  const cli: Cli = (...args) => (clis[which] as Cli)(...args);

  it.each<[string[], string[]]>([
    [['role=menu'], ['North/Menu', 'South/Menu']],
    [['role=menu,venue:city in (Accra,Tamale)'], ['North/Menu']],
    [['!floor', 'role!=wall'], ['South/Menu']],
    [['note=a (b)'], ['South/Menu']],
    [['role=nothing'], []],
  ])('--selector %j lists screens and their devices', async (selectors, names) => {
    const flags = selectors.flatMap((one) => ['--selector', one]);
    expect(lines(await cli(['screen', 'list', '-o', 'name', ...flags]))).toEqual(names);
    expect(lines(await cli(['device', 'list', '-o', 'name', ...flags]))).toEqual(
      names.map((name) => deviceOf[name]).toSorted(),
    );
  });

  it('narrows with --venue and --state, and ends at --limit', async () => {
    const list = ['list', '--venue', 'north', '--selector', 'role', '-o', 'json'];
    expect((await cli(['screen', ...list, '--state', 'active'])).json).toHaveLength(2);
    expect((await cli(['screen', ...list, '--state', 'provisioning'])).json).toEqual([]);
    expect((await cli(['device', ...list, '--limit', '1'])).json).toHaveLength(1);
  });

  it('selects the screens to change', async () => {
    const update = ['screen', 'update', '--selector', 'role in (menu),venue:city=Kumasi'];
    const { code, ndjson } = await cli([...update, '--label', 'x=y', '--dry-run', '-o', 'ndjson']);
    expect(code).toBe(0);
    expect(ndjson).toMatchObject([{ method: 'PATCH' }]);
  });
});
