import { expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import type { LogMethod } from '../../src/domain/log.ts';
import { databaseProxy } from '../support/postgres/database-proxy.ts';
import { freshDatabase } from '../support/postgres/postgres.ts';
import { startService } from '../support/service/service.ts';

interface Entry {
  level: string;
  fields: Record<string, unknown>;
  message: string;
}

it('reports an outage of the database by one entry at its start and one at its end', async () => {
  const proxy = await databaseProxy(await freshDatabase());
  const entries: Entry[] = [];
  const at =
    (level: string): LogMethod =>
    (fields, message) =>
      void entries.push({ level, fields, message });
  const service = await startService({
    clock: systemClock,
    store: proxy.url,
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
  });
  const ofOperators = () => entries.filter(({ level }) => level !== 'debug');
  expect((await service.manage('GET', '/v1/venues')).status).toBe(200);
  entries.length = 0;

  proxy.goAway();
  const statuses: number[] = [];
  for (let count = 0; count < 20; count++)
    statuses.push((await service.manage('GET', '/v1/venues')).status);
  expect(new Set(statuses)).toEqual(new Set([503]));
  expect(ofOperators()).toEqual([
    {
      level: 'error',
      fields: { reason: expect.any(String) },
      message: 'The database cannot be reached. Until it answers, requests get 503.',
    },
  ]);

  proxy.comeBack();
  await expect.poll(async () => (await service.manage('GET', '/v1/venues')).status).toBe(200);
  const refused = entries.filter(
    ({ fields, level }) => fields.requestId && level === 'debug' && fields.err,
  ).length;
  expect(refused).toBeGreaterThanOrEqual(20);
  expect(ofOperators().slice(1)).toEqual([
    {
      level: 'info',
      fields: { seconds: expect.any(Number), refusedRequests: refused },
      message: 'The database can be reached again.',
    },
  ]);
});
