import { expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { makeIdSource } from '../../src/domain/id.ts';
import type { PairingCode, Screen } from '../../src/domain/records/rows.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import {
  codeRow,
  deviceKeyRow,
  deviceRow,
  playlistRow,
  screenRow,
  venueRow,
} from '../store/sample-rows.ts';
import { collectGarbage } from '../support/collect-garbage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { longestHoldMs, timeCalls, timed } from './measure.ts';

const sizes = [1_000, 100_000];
const concurrency = 64;
const registrations = 5_000;
const item = {
  creativeId: '7b0c5a1e-3f2d-4e6b-8a9c-0d1e2f3a4b5c',
  creativeUrl: 'https://media.example.com/spring/campaign-7/loop.mp4',
  creativeType: 'video',
  duration: 15,
};
const items = JSON.stringify(Array.from({ length: 5 }, () => item));

const say = (text: string) => console.log(text);
const newId = makeIdSource(systemClock);

/** Adds a screen with its bound device, key, used code and playlist. */
async function addScreen(store: Store, venueId: string, number: number): Promise<void> {
  const [screenId, deviceId] = [newId(), newId()];
  await store.write(async (tx) => {
    await tx.put(
      'screens',
      screenRow(number, { id: screenId, venueId, state: 'active', deviceId }),
    );
    await tx.put('devices', deviceRow(number, { id: deviceId, screenId, venueId }));
    await tx.put(
      'deviceKeys',
      deviceKeyRow(number, {
        id: newId(),
        screenId,
        deviceId,
        hash: `${number}`.padStart(64, '0'),
      }),
    );
    await tx.put(
      'codes',
      codeRow(number, {
        id: `${number}`.padStart(64, '0'),
        screenId,
        deviceId,
        state: 'used',
        usedAt: tx.now,
      }),
    );
    await tx.put('playlists', playlistRow(number, 1, { id: screenId, screenId, items }));
  });
}

/** Writes the same rows as a registration: code, device, key, screen and audit entry. */
async function register(
  store: Store,
  screen: Screen,
  code: PairingCode,
  number: number,
): Promise<void> {
  const deviceId = newId();
  await store.write(async (tx) => {
    const found = await tx.get('codes', code.id);
    const others = await tx.select('codes', 'screenId', [screen.id]);
    expect(others.length).toBe(1);
    await tx.put('codes', { ...found!, state: 'used', usedAt: tx.now, deviceId });
    await tx.put(
      'devices',
      deviceRow(number, { id: deviceId, screenId: screen.id, venueId: screen.venueId }),
    );
    await tx.put(
      'deviceKeys',
      deviceKeyRow(number, { id: newId(), deviceId, screenId: screen.id, hash: `new ${number}` }),
    );
    await tx.put('screens', { ...screen, state: 'active', deviceId });
    const actor = { kind: 'device' as const, id: deviceId, name: null };
    const subject = { kind: 'screen', id: screen.id };
    await tx.audit({
      id: newId(),
      tenantId: screen.tenantId,
      at: tx.now,
      actor,
      action: 'device.register',
      subject,
      address: null,
      requestId: null,
      details: {},
    });
  });
}

async function measure(screens: number): Promise<number> {
  const folder = await temporaryFolder();
  let store: Store = await openStore(folder, { onWarning: say });
  const venues = Array.from({ length: Math.ceil(screens / 100) }, () => newId());
  await timeCalls(venues.length, concurrency, (n) =>
    store.write((tx) => tx.put('venues', venueRow(n, { id: venues[n]! }))),
  );
  const fillMs = await timeCalls(screens, 256, (n) =>
    addScreen(store, venues[n % venues.length]!, n),
  );
  say(
    `${screens} screens: filled at ${Math.round((screens / fillMs) * 1000)} changes of 5 rows per second`,
  );

  const free = Array.from({ length: registrations }, (_, n) =>
    screenRow(1_000_000 + n, { id: newId(), venueId: venues[n % venues.length]! }),
  );
  const codes = free.map((screen, n) =>
    codeRow(0, { id: `free ${n}`.padStart(64, '0'), screenId: screen.id }),
  );
  await timeCalls(registrations, concurrency, (n) =>
    store.write(async (tx) => {
      await tx.put('screens', free[n]!);
      await tx.put('codes', codes[n]!);
    }),
  );
  let registrationMs = 0;
  const before = process.cpuUsage();
  const holdMs = await longestHoldMs(async () => {
    registrationMs = await timeCalls(registrations, concurrency, (n) =>
      register(store, free[n]!, codes[n]!, 1_000_000 + n),
    );
  });
  const { user, system } = process.cpuUsage(before);
  const cpuUs = Math.round((user + system) / registrations);
  const perSecond = Math.round((registrations / registrationMs) * 1000);
  say(
    `${screens} screens: ${perSecond} registrations/s, ${concurrency} at a time, ${cpuUs} µs of CPU each; longest hold of the event loop ${holdMs.toFixed(1)} ms`,
  );
  const oneMs = await timeCalls(200, 1, (n) => store.write((tx) => tx.put('screens', free[n]!)));
  say(`${screens} screens: ${(oneMs / 200).toFixed(2)} ms for a single change`);

  const listMs = await timeCalls(20, 1, () =>
    store.list('screens', { limit: 200, search: 'no such screen' }),
  );
  const listHoldMs = await longestHoldMs(() =>
    store.list('devices', { limit: 200, online: { is: true, now: systemClock.now() } }),
  );
  say(
    `${screens} screens: ${(listMs / 20).toFixed(1)} ms to search all names; listing all online devices: longest hold ${listHoldMs.toFixed(1)} ms`,
  );

  let closeMs = 0;
  const closeHoldMs = await longestHoldMs(async () => {
    closeMs = (await timed(() => store.close())).ms;
  });
  say(
    `${screens} screens: closed in ${closeMs.toFixed(0)} ms, longest hold ${closeHoldMs.toFixed(1)} ms`,
  );
  // The start is measured with an empty heap.
  store = undefined as unknown as Store;
  collectGarbage();
  const opened = await timed(() => openStore(folder, { onWarning: say }));
  store = opened.result;
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  say(
    `${screens} screens: started in ${opened.ms.toFixed(0)} ms; heap ${Math.round(heapUsed / 2 ** 20)} MiB, resident ${Math.round(rss / 2 ** 20)} MiB`,
  );
  expect(await store.read.count('devices', 'tenantId', screenRow(0).tenantId)).toBe(
    screens + registrations,
  );
  await store.close();
  return cpuUs;
}

it('registrations, lists, close and start with 1,000 and 100,000 screens', async () => {
  const [small, large] = [await measure(sizes[0]!), await measure(sizes[1]!)];
  // Compares CPU time, because the disk is faster at some moments than at others.
  say(
    `a registration at ${sizes[1]} screens costs ${(large / small).toFixed(2)} times the CPU of one at ${sizes[0]}`,
  );
});
