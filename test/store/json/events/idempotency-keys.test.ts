import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchSums } from '../../../../src/domain/events/batch-counts.ts';
import type {
  RenderedDocument,
  WrittenDocument,
} from '../../../../src/store/json/checkpoint/document-owner.ts';
import {
  IdempotencyKeys,
  rememberedKeys,
} from '../../../../src/store/json/events/idempotency-keys.ts';
import type { EventRecord } from '../../../../src/store/json/log/event-record.ts';
import { guid } from '../../sample-batch.ts';
import { documentOf } from '../part-rig.ts';

const hex = (n: number) =>
  ((BigInt(n) * 0x9e3779b97f4a7c15n) & 0xffff_ffff_ffff_ffffn).toString(16).padStart(16, '0');

function record(seq: number, device: number, key?: number): EventRecord {
  const recordedKey = key === undefined ? undefined : { key: hex(key), sent: hex(key + 1_000_000) };
  return {
    seq,
    receivedAt: seq,
    tenantId: '',
    venueId: '',
    screenId: '',
    deviceId: guid('devi', device),
    recordedKey,
    sums: batchSums([]),
  };
}

/** Documents as on disk. */
class Documents {
  readonly kept = new Map<string, { seq: number; text: string }>();

  async write(
    name: string,
    rendered: RenderedDocument | undefined,
  ): Promise<WrittenDocument | undefined> {
    if (!rendered) {
      this.kept.delete(name);
      return undefined;
    }
    let text = '';
    for await (const line of rendered.lines) text += `${line}\n`;
    this.kept.set(name, { seq: rendered.seq, text });
    return this.written(name);
  }

  written(name: string): WrittenDocument {
    const { seq, text } = this.kept.get(name)!;
    return documentOf(text, { seq });
  }

  async loaded() {
    const made = makeKeys();
    for (const name of this.kept.keys()) await made.keys.load(name, this.written(name));
    return made;
  }
}

function makeKeys() {
  const progress = { at: 0, isDue: true };
  const keys = new IdempotencyKeys({ seq: () => progress.at, due: () => progress.isDue });
  return {
    progress,
    keys,
    apply(one: EventRecord) {
      progress.at = one.seq;
      keys.apply(one);
    },
  };
}

describe('the idempotency keys of a device', () => {
  it('include each key with the hash of the bytes sent, and no other', () => {
    const { keys, apply } = makeKeys();
    apply(record(1, 1, 7));
    expect(keys.find(guid('devi', 1), hex(7))).toBe(hex(1_000_007));
    expect(keys.find(guid('devi', 1), hex(8))).toBeUndefined();
    expect(keys.find(guid('devi', 2), hex(7))).toBeUndefined();
  });

  it.each([1, 4, 5, 127, 128, 129, 300])(
    'are the last 128 of %i, before and after a restart',
    async (count) => {
      const { keys, apply } = makeKeys();
      for (let n = 0; n < count; n++) apply(record(n + 1, 1, n));
      const documents = new Documents();
      for (const name of keys.dirty()) await documents.write(name, await keys.render(name));
      const next = await documents.loaded();
      for (const one of [keys, next.keys]) {
        for (let n = 0; n < count; n++)
          expect(one.find(guid('devi', 1), hex(n)) !== undefined).toBe(n >= count - rememberedKeys);
      }
      next.apply(record(count + 1, 1, 1000));
      expect(next.keys.find(guid('devi', 1), hex(1000))).toBeDefined();
      expect(
        next.keys.find(guid('devi', 1), hex(Math.max(0, count - rememberedKeys))) !== undefined,
      ).toBe(count < rememberedKeys);
    },
  );

  it('take at most 2 KB', () => {
    const { keys, apply } = makeKeys();
    const before = process.memoryUsage().arrayBuffers;
    for (let device = 0; device < 200; device++)
      for (let n = 0; n < 200; n++) apply(record(1, device, n));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200 * 4096);
    expect(keys.find(guid('devi', 199), hex(199))).toBeDefined();
  });
});

describe('the documents of idempotency keys', () => {
  it('are named by shard, and have one line per device and the number of the last batch', async () => {
    const { keys, apply } = makeKeys();
    for (let device = 0; device < 500; device++) apply(record(device + 1, device, 1));
    const names = keys.dirty();
    expect(names.length).toBeGreaterThan(60);
    for (const name of names) expect(name).toMatch(/^rings-[0-3][0-9a-f]$/);
    const rendered = (await keys.render(names[0]!))!;
    expect(rendered.seq).toBe(500);
    const [first = ''] = [...(rendered.lines as Iterable<string>)];
    expect(JSON.parse(first)).toEqual([
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      expect.stringMatching(/^[A-Za-z0-9+/]{22}==$/),
    ]);
  });

  it('are dirty only when due, and only if they changed', async () => {
    const { keys, progress, apply } = makeKeys();
    apply(record(1, 1, 1));
    apply(record(2, 2));
    progress.isDue = false;
    expect(keys.dirty()).toEqual([]);
    progress.isDue = true;
    const [name = ''] = keys.dirty();
    expect(keys.dirty()).toEqual([name]);
    await keys.render(name);
    expect(keys.dirty()).toEqual([]);
    keys.failed(name);
    expect(keys.dirty()).toEqual([name]);
    await keys.render(name);
    expect(keys.dirty()).toEqual([]);
  });

  it('are snapshots without batches that arrive during the write', async () => {
    const { keys, apply } = makeKeys();
    apply(record(1, 1, 1));
    const [name = ''] = keys.dirty();
    const rendering = keys.render(name);
    apply(record(2, 1, 2));
    const documents = new Documents();
    await documents.write(name, await rendering);
    expect(keys.dirty()).toEqual([name]);
    const next = await documents.loaded();
    expect(next.keys.find(guid('devi', 1), hex(1))).toBeDefined();
    expect(next.keys.find(guid('devi', 1), hex(2))).toBeUndefined();
  });

  it('are deleted when the last device is forgotten', async () => {
    const { keys, apply } = makeKeys();
    apply(record(1, 1, 1));
    const [name = ''] = keys.dirty();
    await keys.render(name);
    keys.forget(guid('devi', 2));
    expect(keys.dirty()).toEqual([]);
    keys.forget(guid('devi', 1));
    expect(keys.dirty()).toEqual([name]);
    expect(await keys.render(name)).toBeUndefined();
  });
});

describe('idempotency keys in random runs', () => {
  type Batch = { device: number; key: number };
  type Step =
    | { do: 'batch'; batch: Batch }
    | { do: 'checkpoint'; fails: boolean; late: Batch[] }
    | { do: 'crash' };
  const batch: fc.Arbitrary<Batch> = fc.record({ device: fc.nat(2), key: fc.nat(400) });
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 40, arbitrary: fc.record({ do: fc.constant('batch' as const), batch }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('checkpoint' as const),
        fails: fc.boolean(),
        late: fc.array(batch, { maxLength: 9 }),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ do: 'crash' as const }) },
  );

  it('behave like a list of the last 128 keys', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 100, maxLength: 700, size: 'max' }),
        async (steps) => {
          const model = new Map<number, number[]>();
          const records: EventRecord[] = [];
          const documents = new Documents();
          let now = makeKeys();
          let position = 0;
          const take = ({ device, key }: Batch) => {
            const keys = model.get(device) ?? [];
            model.set(device, keys);
            const isKnown = now.keys.find(guid('devi', device), hex(key)) !== undefined;
            expect(isKnown).toBe(keys.includes(key));
            if (isKnown) return;
            keys.push(key);
            if (keys.length > rememberedKeys) keys.shift();
            records.push(record(records.length + 1, device, key));
            now.apply(records.at(-1)!);
          };
          for (const one of steps) {
            if (one.do === 'batch') take(one.batch);
            else if (one.do === 'checkpoint') {
              const reached = records.length;
              // These come after the recorded position, but some documents already have them.
              for (const late of one.late) take(late);
              for (const name of now.keys.dirty()) {
                const rendered = await now.keys.render(name);
                if (one.fails) now.keys.failed(name);
                else await documents.write(name, rendered);
              }
              if (!one.fails) position = reached;
            } else {
              now = await documents.loaded();
              for (const again of records) if (again.seq > position) now.apply(again);
            }
          }
        },
      ),
      { numRuns: 20, endOnFailure: true },
    );
  });
});
