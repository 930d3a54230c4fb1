import { describe, expect, it } from 'vitest';
import { maxObjectBytes } from '../../../src/origin/object-store/object-store.ts';
import { makePlaylistCopies } from '../../../src/origin/object-store/playlist-copies.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { turns } from '../../support/runtime/turns.ts';
import { playlistRow, screenRow } from '../../support/service/playlist-rows.ts';
import { memoryObjectStore } from '../../support/stores/memory-object-store.ts';

const screen = screenRow();
const setUp = () => {
  const [objects, clock] = [memoryObjectStore(), new ManualClock()];
  return { objects, clock, copies: makePlaylistCopies(objects, clock) };
};

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of items) found.push(one);
  return found;
}

describe('mirror copies of playlists', () => {
  it('are listed by tenant, without other objects', async () => {
    const { objects, copies } = setUp();
    await copies.write(playlistRow(screen), undefined);
    await copies.write(playlistRow(screenRow()), undefined);
    for (const name of [
      'README.txt',
      'readme.json',
      `${screen.id.toUpperCase()}.json`,
      `${screen.id}.json.bak`,
    ]) {
      objects.objects.set(`${screen.tenantId}/playlists/${name}`, '');
    }
    expect(await all(copies.screensOf(screen.tenantId))).toEqual([[screen.id]]);
  });

  it.each([
    ['the same page again', () => 'again'],
    ['a new page each time', (listed: number) => String(listed)],
  ])('are not listed by an object store that answers %s without end', async (_, next) => {
    const { objects, copies } = setUp();
    let listed = 0;
    objects.list = async () => ({ keys: [], next: next(++listed) });
    await expect(all(copies.screensOf(screen.tenantId))).rejects.toMatchObject({
      code: 'object_store_refused',
      message: expect.stringContaining('does not end'),
    });
    expect(listed).toBeLessThanOrEqual(10_001);
  });

  it('are rejected if they would exceed the read limit', async () => {
    const { objects, copies } = setUp();
    const items = JSON.stringify([{ more: 'x'.repeat(maxObjectBytes) }]);
    await expect(copies.write(playlistRow(screen, { items }), undefined)).rejects.toEqual(
      expect.objectContaining({ code: 'object_too_large' }),
    );
    expect(objects.calls).toEqual([]);
  });

  it('never exceed the limit for a body of 1 MiB, however its numbers are written', async () => {
    const { copies } = setUp();
    // The largest growth in JSON: 1e20 becomes 21 digits.
    const numbers = Array.from({ length: (1024 * 1024) / '1e20,'.length }, () => 1e20);
    const items = JSON.stringify([{ numbers }]);
    expect(await copies.write(playlistRow(screen, { items }), undefined)).toBe(true);
  });

  it.each([
    ['read', 2000],
    ['write', 5000],
    ['remove', 5000],
    ['screensOf', 5000],
  ] as const)('give up on a %s after %i ms, and break it off', async (how, timeoutMs) => {
    const { objects, clock, copies } = setUp();
    let signal: AbortSignal | undefined;
    const hang = (...given: unknown[]) => {
      signal = given.at(-1) as AbortSignal;
      return new Promise<never>(() => {});
    };
    Object.assign(objects, { get: hang, put: hang, delete: hang, list: hang });
    const calls = {
      read: () => copies.read(screen),
      write: () => copies.write(playlistRow(screen), undefined),
      remove: () => copies.remove(screen),
      screensOf: () => all(copies.screensOf(screen.tenantId)),
    };
    const call = calls[how]();
    call.catch(() => undefined);
    clock.advance(timeoutMs - 1);
    await turns();
    expect(signal?.aborted).toBe(false);
    clock.advance(1);
    await expect(call).rejects.toEqual(expect.objectContaining({ code: 'origin_timeout' }));
    expect(signal?.aborted).toBe(true);
  });
});
