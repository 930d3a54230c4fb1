import { expect, it } from 'vitest';
import { impression } from '../../support/service/content.ts';
import { startCli } from '../run-cli.ts';

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
