import { beforeEach, describe, expect, it } from 'vitest';
import { asGuid, makeIdSource } from '../../../src/domain/id.ts';
import type { RequestPlace } from '../../../src/service/context.ts';
import {
  type RecentRequest,
  RecentRequests,
} from '../../../src/service/requests/recent-requests.ts';
import { collectGarbage } from '../../support/runtime/collect-garbage.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

const limit = 32 * 1024 * 1024;
const startMs = Date.UTC(2026, 10, 20, 12);
const place = (device: number | null, venue = 1): RequestPlace => ({
  id: device === null ? null : `device ${device}`,
  tenantId: 'tenant',
  venueId: `venue ${venue}`,
  screenId: `screen ${device ?? 1}`,
});
const answered = (at: number, more: Partial<RecentRequest> = {}): RecentRequest => ({
  at: startMs + at,
  operation: 'getPlaylist',
  status: 200,
  code: null,
  detail: null,
  faults: [],
  requestId: `request ${at}`,
  sequence: 0,
  ...more,
});
const all = { tenantId: 'tenant', limit: 200 };
const idsOf = (recent: RecentRequests, query: object = {}) =>
  recent.newest({ ...all, ...query }).map(({ request }) => request.requestId);

describe('the last requests of each device', () => {
  let recent: RecentRequests;
  beforeEach(() => {
    recent = new RecentRequests('0123456');
  });

  it('are listed newest first, also if they were added out of order', () => {
    for (const at of [1, 3, 2]) recent.add(place(1), answered(at));
    recent.add(place(2), answered(0));
    expect(idsOf(recent)).toEqual(['request 3', 'request 2', 'request 1', 'request 0']);
  });

  it('keeps 200 per device, and the requests of other devices', () => {
    recent.add(place(2), answered(0));
    recent.add(place(null), answered(1));
    for (let at = 2; at < 1000; at++) recent.add(place(1), answered(at));
    expect(idsOf(recent, { deviceId: 'device 1' })).toHaveLength(200);
    expect(idsOf(recent, { deviceId: 'device 1' }).at(-1)).toBe('request 800');
    expect(idsOf(recent, { limit: 1000 }).slice(-2)).toEqual(['request 1', 'request 0']);
  });

  it('have version 7 UUIDs that sort by time, then by number', () => {
    for (const at of [5, 5, 5, 6]) recent.add(place(1), answered(at));
    const ids = recent.newest(all).map(({ request }) => request.id);
    expect(ids.map(asGuid)).toEqual(ids);
    expect(new Set(ids).size).toBe(4);
    expect(ids).toEqual(ids.toSorted().reverse());
  });

  it('are paged without gaps, also within a millisecond', () => {
    for (let n = 0; n < 30; n++)
      recent.add(place(n % 4), answered(Math.floor(n / 10), { requestId: `request ${n}` }));
    const paged: string[] = [];
    for (let after: string | undefined; paged.length < 40; ) {
      const page = recent.newest({ ...all, limit: 4, ...(after !== undefined && { after }) });
      if (page.length === 0) break;
      paged.push(...page.map(({ request }) => request.requestId));
      after = page.at(-1)?.request.id;
    }
    expect(paged).toEqual(Array.from({ length: 30 }, (_, n) => `request ${29 - n}`));
  });

  it('are found by time, outcome, screen, device and venue', () => {
    for (let at = 0; at < 30; at++) {
      const status = at % 3 === 0 ? 401 : 200;
      recent.add(place(at % 5, at % 2), answered(at, { status }));
    }
    expect(idsOf(recent)).toHaveLength(30);
    expect(idsOf(recent, { refused: true })).toHaveLength(10);
    expect(idsOf(recent, { refused: false })).toHaveLength(20);
    expect(idsOf(recent, { from: startMs + 28 })).toEqual(['request 29', 'request 28']);
    expect(idsOf(recent, { to: startMs + 1 })).toEqual(['request 0']);
    expect(idsOf(recent, { deviceId: 'device 4' })).toHaveLength(6);
    expect(idsOf(recent, { screenId: 'screen 4' })).toHaveLength(6);
    expect(idsOf(recent, { tenantId: 'another' })).toEqual([]);
    expect(idsOf(recent, { venueIds: [] })).toEqual([]);
  });

  it('lose their older halves when all take too much memory', () => {
    recent = new RecentRequests('0123456', { perDevice: 200, bytes: 200_000 });
    for (let at = 0; at < 5000; at++) recent.add(place(at % 50), answered(at));
    expect(recent.bytes).toBeLessThanOrEqual(200_000);
    const kept = idsOf(recent, { limit: 5000 });
    expect(kept.length).toBeGreaterThan(200);
    expect(kept[0]).toBe('request 4999');
    for (let device = 0; device < 50; device++)
      expect(idsOf(recent, { deviceId: `device ${device}` }).length).toBeGreaterThan(3);
    for (let device = 50; device < 5000; device++) recent.add(place(device), answered(6000));
    expect(recent.bytes).toBeLessThanOrEqual(200_000);
  });

  it('of devices with few are kept while others send much', () => {
    recent = new RecentRequests('0123456', { perDevice: 200, bytes: 200_000 });
    for (let device = 100; device < 150; device++)
      for (let at = 0; at < 4; at++) recent.add(place(device), answered(at));
    for (let at = 4; at < 5000; at++) recent.add(place(at % 10), answered(at));
    for (let device = 100; device < 150; device++)
      expect(idsOf(recent, { deviceId: `device ${device}` })).toHaveLength(4);
    for (let device = 0; device < 10; device++)
      expect(idsOf(recent, { deviceId: `device ${device}` }).length).toBeGreaterThan(10);
    expect(recent.bytes).toBeLessThanOrEqual(200_000);
  });

  it.each<[string, (n: number) => Partial<RecentRequest>]>([
    ['as usual', () => ({})],
    ['with long details', (n) => ({ status: 400, detail: `${n}é${'😀'.repeat(149)}` })],
  ])('take at most 32 MiB in all, %s', (_, more) => {
    const heapBytes = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const newId = makeIdSource(new ManualClock());
    const before = heapBytes();
    for (let n = 0; recent.bytes < limit - 2000; n++)
      recent.add(place(n % 5000), answered(n, { requestId: newId(), ...more(n) }));
    const bytes = heapBytes() - before;
    expect(bytes).toBeLessThan(limit);
    expect(recent.newest({ ...all, limit: 10 })).toHaveLength(10);
  });
});
