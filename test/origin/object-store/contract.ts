import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { maxObjectBytes, type ObjectStore } from '../../../src/origin/object-store/object-store.ts';

const { signal } = new AbortController();
const bytes = (text: string) => Buffer.from(text);

export interface ObjectStoreUnderTest {
  /** Opens an empty object store. */
  open(): Promise<ObjectStore>;
  /** Whether it supports conditional writes. */
  supportsConditions: boolean;
}

/** Contract tests of every object store. */
export function describeObjectStore(
  name: string,
  { open, supportsConditions }: ObjectStoreUnderTest,
): void {
  let store: ObjectStore;
  beforeEach(async () => {
    store = await open();
  });

  /** Tests that apply only to conditional writes. */
  const whereHeeded = (what: string, test: () => Promise<void>) =>
    void (supportsConditions && it(what, test));

  const textOf = async (key: string) => {
    const object = await store.get(key, signal);
    return object && Buffer.from(object.bytes ?? '?').toString();
  };
  const etagOf = async (key: string) => (await store.get(key, signal))?.etag ?? 'none';

  async function keysIn(folder: string): Promise<string[]> {
    const keys: string[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page = await store.list(folder, after ?? null, signal);
      keys.push(...page.keys);
      after = page.next;
    }
    return keys;
  }

  describe(`an object store: ${name}`, () => {
    it('has no object under an unknown key', async () => {
      expect(await store.get('a/playlists/none.json', signal)).toBeUndefined();
    });

    it('returns the written bytes', async () => {
      const key = `${randomUUID()}/playlists/${randomUUID()}.json`;
      const large = JSON.stringify({ text: 'ü€😀\u0000\n'.repeat(80_000) });
      for (const text of ['{"a":1}', large, '']) {
        expect(
          await store.put(key, bytes(text), text === '{"a":1}' ? null : await etagOf(key), signal),
        ).toBe(true);
        expect(await textOf(key)).toBe(text);
      }
    });

    it('returns no bytes of an object that is larger than the limit', async () => {
      for (const [size, isRead] of [
        [maxObjectBytes, true],
        [maxObjectBytes + 1, false],
      ] as const) {
        await store.put(`a/${size}.json`, Buffer.alloc(size, ' '), null, signal);
        const object = await store.get(`a/${size}.json`, signal);
        expect([object?.bytes !== undefined, object?.etag]).toEqual([isRead, expect.any(String)]);
      }
    });

    it('has another ETag for other contents', async () => {
      await store.put('a/one.json', bytes('1'), null, signal);
      const before = await etagOf('a/one.json');
      expect(await etagOf('a/one.json')).toBe(before);
      expect(await store.put('a/one.json', bytes('2'), before, signal)).toBe(true);
      expect(await etagOf('a/one.json')).not.toBe(before);
    });

    whereHeeded('writes over nothing only where there is nothing', async () => {
      await store.put('a/one.json', bytes('1'), null, signal);
      expect(await store.put('a/one.json', bytes('2'), null, signal)).toBe(false);
      expect(await textOf('a/one.json')).toBe('1');
    });

    whereHeeded('writes over what was read only while that is what is there', async () => {
      await store.put('a/one.json', bytes('1'), null, signal);
      const read = await etagOf('a/one.json');
      await store.put('a/one.json', bytes('2'), read, signal);
      expect(await store.put('a/one.json', bytes('3'), read, signal)).toBe(false);
      expect(await textOf('a/one.json')).toBe('2');
      await store.delete('a/one.json', signal);
      expect(await store.put('a/one.json', bytes('4'), read, signal)).toBe(false);
      expect(await textOf('a/one.json')).toBeUndefined();
    });

    it('deletes an object, and ignores a missing one', async () => {
      await store.put('a/one.json', bytes('1'), null, signal);
      await store.put('a/two.json', bytes('2'), null, signal);
      await store.delete('a/one.json', signal);
      await store.delete('a/one.json', signal);
      await store.delete('b/never.json', signal);
      expect(await textOf('a/one.json')).toBeUndefined();
      expect(await textOf('a/two.json')).toBe('2');
    });

    it('lists the keys of one folder, over any number of pages', async () => {
      const folder = `${randomUUID()}/playlists`;
      const keys = Array.from({ length: 7 }, (_, number) => `${folder}/${number}.json`);
      for (const key of keys) await store.put(key, bytes(key), null, signal);
      await store.put(`${folder}-of-others/1.json`, bytes('x'), null, signal);
      await store.put('elsewhere/1.json', bytes('x'), null, signal);
      expect(await keysIn(folder)).toEqual(keys);
      expect(await keysIn('nowhere/playlists')).toEqual([]);
    });
  });
}
