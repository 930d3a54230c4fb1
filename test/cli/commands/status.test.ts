import { expect, it } from 'vitest';
import { json, stubService } from '../../support/network/stub-service.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { adminToken, startService } from '../../support/service/service.ts';
import { cliOf } from '../run-cli.ts';

const minuteMs = 60_000;

it('signage status judges by the clock of the service', async () => {
  const service = await startService();
  await service.tv();
  service.clock.advance(20 * minuteMs);
  const clock = new ManualClock(service.clock.now() + 5 * 60 * minuteMs);
  const judge = (time: string) =>
    cliOf(service, adminToken)(`status --dark-after ${time}`, { clock });
  expect((await judge('30m')).code).toBe(0);
  expect((await judge('10m')).code).toBe(9);
  expect((await judge('1h')).stdout).toContain('20 min ago');
});

it('signage status says what to check when the service does not know the path', async () => {
  const stub = await stubService(
    json(404, { code: 'not_found', detail: 'There is nothing at this path.', status: 404 }),
  );
  const run = await cliOf(stub, adminToken)(['status']);
  expect(run.code).toBe(3);
  expect(run.stderr).toContain('Check --url');
});
