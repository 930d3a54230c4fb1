import { expect, it } from 'vitest';
import { json as jsonAnswer, problem, stubService } from '../../support/network/stub-service.ts';
import { impression } from '../../support/service/content.ts';
import { adminToken } from '../../support/service/service.ts';
import { cliOf, startCli } from '../run-cli.ts';

it('signage report impressions prints CSV with the columns of the service', async () => {
  const { service, cli } = await startCli();
  const tv = await service.tv();
  await tv.send('POST', 'events', { body: [impression({ duration: 2.5 }), impression()] });
  const line = 'groupBy=day&by=timestamp';
  const { text } = await service.manage('GET', `/v1/reports/impressions?${line}`, undefined, {
    headers: { accept: 'text/csv' },
  });
  const run = await cli('report impressions --group-by day --by timestamp -o csv');
  expect(run.stdout).toBe(text);
});

it('signage report impressions counts all TVs of a service that cannot tell simulated ones, and says so', async () => {
  const message = 'is not a known query parameter: check its spelling';
  const errors = [{ path: 'query.simulated', message }];
  const refusal = problem(400, 'invalid_request', message, { errors });
  const items = [{ key: '2026-06-01', impressions: 1, seconds: 5 }];
  const stub = await stubService(refusal, jsonAnswer(200, { items }));
  try {
    const run = await cliOf(stub, adminToken)(['report', 'impressions', '-o', 'json']);
    expect(run).toMatchObject({ code: 0, json: items });
    expect(run.stderr).toMatch(/^This service cannot tell simulated TVs from others/);
    expect(stub.heard.map(({ url }) => url.split('?')[1])).toEqual([
      'simulated=exclude',
      undefined,
    ]);
  } finally {
  }
});
