// Guessed keys and tokens must not slow down TVs with known keys (docs/protocol.md §1.8).
import { beforeEach, expect, it } from 'vitest';
import { hashKey } from '../../../src/domain/api-key.ts';
import { RowReader } from '../../../src/store/postgres/rows/row-reader.ts';
import { VersionedRows } from '../../../src/store/postgres/rows/versioned-rows.ts';

interface Asked {
  hashes: readonly string[];
  answer(): void;
}

const good = hashKey('good');
const found = {
  key: '{"id":"key"}',
  device: null,
  screen: null,
  row: '{"id":"token"}',
  id: 'token',
  version: '1',
};

let asked: Asked[];
/** Whether look-ups resolve immediately. */
let isQuick: boolean;
let goodHash: string | undefined;
let reader: RowReader;
beforeEach(() => {
  [asked, isQuick, goodHash] = [[], true, undefined];
  const ask = async <R>(
    _text: string,
    [hashes]: readonly unknown[] = [],
  ): Promise<readonly R[]> => {
    const values = hashes as string[];
    if (!isQuick)
      await new Promise<void>((resolve) => asked.push({ hashes: values, answer: resolve }));
    return values
      .filter((value) => value === goodHash)
      .map((value) => ({ ...found, hash: value, value }) as R);
  };
  reader = new RowReader(ask, new VersionedRows(ask), () => {});
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

const lookUps: [string, (hash: string) => Promise<unknown>][] = [
  ['device keys', (hash) => reader.findByKeyHash(hash)],
  ['tokens', (hash) => reader.find('tokens', 'hash', hash)],
];

it.each(lookUps)(
  'look-ups of unknown %s use one connection, and look-ups of known ones do not wait for them',
  async (_name, lookUp) => {
    // The statement's parameter is a hash of the hash.
    isQuick = false;
    const learning = lookUp(good);
    await settled();
    goodHash = asked[0]?.hashes[0];
    asked.splice(0)[0]?.answer();
    expect(await learning).toBeDefined();

    const unknown = Array.from({ length: 1_000 }, (_, n) => lookUp(hashKey(`made up ${n}`)));
    await settled();
    expect(asked.length).toBe(1);
    const known = lookUp(good);
    await settled();
    expect(asked.map(({ hashes }) => hashes.length)).toEqual([8, 1]);
    asked[1]?.answer();
    expect(await known).toBeDefined();
    isQuick = true;
    asked[0]?.answer();
    expect(new Set(await Promise.all(unknown))).toEqual(new Set([undefined]));
  },
);

it('a key that is no longer found is unknown again', async () => {
  isQuick = false;
  const ask = async () => {
    const answer = reader.findByKeyHash(good);
    await settled();
    goodHash ??= asked[0]?.hashes[0];
    asked.splice(0)[0]?.answer();
    return answer;
  };
  await ask();
  goodHash = 'gone';
  expect(await ask()).toBeUndefined();
  const unknown = Array.from({ length: 10 }, (_, n) =>
    reader.findByKeyHash(hashKey(`made up ${n}`)),
  );
  await settled();
  void reader.findByKeyHash(good).catch(() => {});
  await settled();
  expect(asked.length).toBe(1);
  isQuick = true;
  asked[0]?.answer();
  await Promise.all(unknown);
});
