import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ChangeTopics } from '../../../../src/store/change-topics.ts';
import { makeConnect } from '../../../../src/store/postgres/connection/connect.ts';
import { parseDatabaseUrl } from '../../../../src/store/postgres/connection/database-url.ts';
import { Listener } from '../../../../src/store/postgres/notify/listener.ts';
import { type DatabaseProxy, databaseProxy } from '../../../support/postgres/database-proxy.ts';
import { inDatabase } from '../../../support/postgres/in-database.ts';
import { freshDatabase } from '../../../support/postgres/postgres.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';

const limits = { poolSize: 2, statementTimeoutMs: 1000, lockTimeoutMs: 1000 };
let url: string;
let proxy: DatabaseProxy;
let clock: ManualClock;
let listener: Listener;
let woken: string[];

beforeEach(async () => {
  url = await freshDatabase();
  proxy = await databaseProxy(url);
  clock = new ManualClock();
  const topics = new ChangeTopics();
  woken = [];
  for (const topic of ['codes/a', 'codes/b']) topics.watch(topic, () => woken.push(topic));
  listener = new Listener(await makeConnect(parseDatabaseUrl(proxy.url)), limits, {
    topics,
    instance: 'own',
    clock,
  });
  await listener.start();
  await expect.poll(() => woken.splice(0)).toEqual(['codes/a', 'codes/b']);
});
afterEach(() => listener.close());

const notify = (payload: string) =>
  inDatabase(url, (sql) => sql(`SELECT pg_notify('signage', $1)`, [payload]));

describe('Listener', () => {
  it('wakes the watchers of a topic, and no others', async () => {
    await notify('other|codes/a');
    await expect.poll(() => woken.splice(0)).toEqual(['codes/a']);
    for (const payload of ['own|codes/a', 'other|codes/c', 'other', 'nonsense', 'other|codes/b'])
      await notify(payload);
    await expect.poll(() => woken.splice(0)).toEqual(['codes/b']);
  });

  it('pings its connection every 10 seconds', async () => {
    for (const turn of [1, 2]) {
      clock.advance(10_000);
      await expect.poll(() => clock.waitingFor(10_000), { message: `turn ${turn}` }).toBe(1);
    }
    expect(woken).toEqual([]);
    await notify('other|codes/a');
    await expect.poll(() => woken.splice(0)).toEqual(['codes/a']);
  });

  it('wakes all watchers once a second while it is disconnected, and on reconnect', async () => {
    proxy.cut();
    await expect.poll(() => woken.splice(0)).toEqual(['codes/a', 'codes/b']);
    clock.advance(1000);
    await expect.poll(() => woken.splice(0)).toEqual(['codes/a', 'codes/b']);
    await notify('other|codes/b');
    await expect.poll(() => woken.splice(0)).toEqual(['codes/b']);
  });

  it('detects a dead connection and reconnects', async () => {
    proxy.hang();
    clock.advance(10_000);
    await expect.poll(() => clock.waitingFor(2000)).toBe(1);
    clock.advance(2000);
    await expect.poll(() => woken.splice(0)).toEqual(['codes/a', 'codes/b']);
    expect(clock.waitingFor(1000)).toBe(1);
  });

  it('leaves no connection or timer behind at close, even while it is disconnected', async () => {
    proxy.cut();
    await expect.poll(() => clock.waitingFor(1000)).toBe(1);
    await listener.close();
    clock.advance(10_000);
    expect(clock.waiting).toBe(0);
  });
});
