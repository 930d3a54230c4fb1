// A page of a list has at most 1 MiB of JSON, unless it holds a single record (docs/protocol.md
// §1.6).
import { beforeEach, describe, expect, it } from 'vitest';
import { type Manager, manager, walk } from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

const mostBytes = 1024 * 1024;
/** Allowance for the envelope of a list and further members of records. */
const fewBytes = 64 * 1024;

let service: TestService;
let admin: Manager;
beforeEach(async () => {
  service = await startService();
  admin = manager(service);
  return () => service.close();
});

/** Returns the maximum number of labels of maximum length: about 60 KB. */
function manyLabels(): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: 64 }, (_, n) => [`${n}`.padEnd(100, 'k'), 'ü'.repeat(200)]),
  );
}

/** Returns the size of each page, and the ids in order. */
async function pagesOf(path: string): Promise<{ bytes: number[]; ids: string[] }> {
  const bytes: number[] = [];
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, text, body } = await admin.get(
      `${path}?limit=200${cursor && `&cursor=${cursor}`}`,
    );
    expect(status, text).toBe(200);
    bytes.push(Buffer.byteLength(text));
    ids.push(...body.items.map((one: { id: string; version?: number }) => one.version ?? one.id));
    cursor = body.nextCursor;
  }
  return { bytes, ids };
}

describe('a page of a list', () => {
  it('has at most 1 MiB of venues, and of screens', async () => {
    const venues: string[] = [];
    for (let n = 0; n < 40; n++)
      venues.push((await admin.venue(`Venue ${n}`, { labels: manyLabels() })).id);
    const listed = await pagesOf('/v1/venues');
    expect(listed.ids).toEqual(venues);
    expect(Math.max(...listed.bytes)).toBeLessThanOrEqual(mostBytes + fewBytes);
    expect(listed.bytes).toHaveLength(2);
    const screens: string[] = [];
    for (let n = 0; n < 40; n++)
      screens.push(
        (await admin.screen(venues[0] as string, `Screen ${n}`, { labels: manyLabels() })).id,
      );
    const { bytes, ids } = await pagesOf('/v1/screens');
    expect(ids).toEqual(screens);
    expect(Math.max(...bytes)).toBeLessThanOrEqual(mostBytes + fewBytes);
  });

  it('has at most 1 MiB of events, in either order', async () => {
    const tv = await service.tv();
    for (let n = 0; n < 2; n++) {
      const events = Array.from({ length: 100 }, () => ({
        type: 'log',
        timestamp: 1,
        text: 'x'.repeat(8_000),
      }));
      expect((await tv.send('POST', 'events', { body: events })).status).toBe(202);
    }
    for (const order of ['asc', 'desc']) {
      const { items } = await walk(admin, `/v1/events?order=${order}`, 200);
      expect(new Set(items.map(({ id }) => id)).size).toBe(200);
      expect(
        (await admin.get(`/v1/events?limit=200&order=${order}`)).text.length,
      ).toBeLessThanOrEqual(mostBytes + fewBytes);
    }
  });
});
