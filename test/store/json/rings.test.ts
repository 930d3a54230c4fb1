import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchSums } from '../../../src/domain/events/batch-counts.ts';
import type {
  RenderedDocument,
  WrittenDocument,
} from '../../../src/store/json/checkpoint/document-owner.ts';
import type { EventRecord } from '../../../src/store/json/events/event-record.ts';
import {
  IdempotencyKeys,
  rememberedKeys,
} from '../../../src/store/json/events/idempotency-keys.ts';
import { guid } from '../sample-batch.ts';

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

/** Documents as they would be on the disk. */
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
    return {
      seq,
      read: async () => text,
      bytes: async () => Buffer.from(text),
      async *chunks() {},
    };
  }

  async loadInto(rings: IdempotencyKeys): Promise<void> {
    for (const name of this.kept.keys()) await rings.load(name, this.written(name));
  }
}

function made() {
  const progress = { at: 0, isDue: true };
  const rings = new IdempotencyKeys({ seq: () => progress.at, due: () => progress.isDue });
  return {
    progress,
    rings,
    apply(one: EventRecord) {
      progress.at = one.seq;
      rings.apply(one);
    },
  };
}

describe('a ring', () => {
  it('knows a key with what was sent, and no other', () => {
    const { rings, apply } = made();
    apply(record(1, 1, 7));
    expect(rings.find(guid('devi', 1), hex(7))).toBe(hex(1_000_007));
    expect(rings.find(guid('devi', 1), hex(8))).toBeUndefined();
    expect(rings.find(guid('devi', 2), hex(7))).toBeUndefined();
  });

  it.each([1, 4, 5, 127, 128, 129, 300])(
    'of %i keys has the last 128, before and after a restart',
    async (count) => {
      const { rings, apply } = made();
      for (let n = 0; n < count; n++) apply(record(n + 1, 1, n));
      const documents = new Documents();
      for (const name of rings.dirty()) await documents.write(name, await rings.render(name));
      const next = made();
      await documents.loadInto(next.rings);
      for (const one of [rings, next.rings]) {
        for (let n = 0; n < count; n++)
          expect(one.find(guid('devi', 1), hex(n)) !== undefined).toBe(n >= count - rememberedKeys);
      }
      next.apply(record(count + 1, 1, 1000));
      expect(next.rings.find(guid('devi', 1), hex(1000))).toBeDefined();
      expect(
        next.rings.find(guid('devi', 1), hex(Math.max(0, count - rememberedKeys))) !== undefined,
      ).toBe(count < rememberedKeys);
    },
  );

  it('takes 2 KB at most', () => {
    const { rings, apply } = made();
    const before = process.memoryUsage().arrayBuffers;
    for (let device = 0; device < 200; device++)
      for (let n = 0; n < 200; n++) apply(record(1, device, n));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200 * 4096);
    expect(rings.find(guid('devi', 199), hex(199))).toBeDefined();
  });
});

describe('the documents', () => {
  it('are named by shard, have a line for each device, and the number of the last batch', async () => {
    const { rings, apply } = made();
    for (let device = 0; device < 500; device++) apply(record(device + 1, device, 1));
    const names = rings.dirty();
    expect(names.length).toBeGreaterThan(60);
    for (const name of names) expect(name).toMatch(/^rings-[0-3][0-9a-f]$/);
    const rendered = (await rings.render(names[0]!))!;
    expect(rendered.seq).toBe(500);
    const [first = ''] = [...(rendered.lines as Iterable<string>)];
    expect(JSON.parse(first)).toEqual([
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      expect.stringMatching(/^[A-Za-z0-9+/]{22}==$/),
    ]);
  });

  it('are dirty only when it is time, and only those that changed', async () => {
    const { rings, progress, apply } = made();
    apply(record(1, 1, 1));
    apply(record(2, 2));
    progress.isDue = false;
    expect(rings.dirty()).toEqual([]);
    progress.isDue = true;
    const [name = ''] = rings.dirty();
    expect(rings.dirty()).toEqual([name]);
    await rings.render(name);
    expect(rings.dirty()).toEqual([]);
    rings.failed(name);
    expect(rings.dirty()).toEqual([name]);
    await rings.render(name);
    rings.written();
    expect(rings.dirty()).toEqual([]);
  });

  it('are snapshots: what comes while they are written is not in them', async () => {
    const { rings, apply } = made();
    apply(record(1, 1, 1));
    const [name = ''] = rings.dirty();
    const rendering = rings.render(name);
    apply(record(2, 1, 2));
    const documents = new Documents();
    await documents.write(name, await rendering);
    expect(rings.dirty()).toEqual([name]);
    const next = made();
    await documents.loadInto(next.rings);
    expect(next.rings.find(guid('devi', 1), hex(1))).toBeDefined();
    expect(next.rings.find(guid('devi', 1), hex(2))).toBeUndefined();
  });

  it('are not given again what they have', async () => {
    const { rings, apply } = made();
    const records = Array.from({ length: rememberedKeys }, (_, n) => record(n + 1, 1, n));
    for (const one of records) apply(one);
    const documents = new Documents();
    for (const name of rings.dirty()) await documents.write(name, await rings.render(name));
    const next = made();
    await documents.loadInto(next.rings);
    for (const one of records.slice(100)) next.apply(one);
    expect(next.rings.dirty()).toEqual([]);
    for (let n = 0; n < rememberedKeys; n++)
      expect(next.rings.find(guid('devi', 1), hex(n))).toBeDefined();
  });

  it('go when the last device is forgotten', async () => {
    const { rings, apply } = made();
    apply(record(1, 1, 1));
    const [name = ''] = rings.dirty();
    await rings.render(name);
    rings.forget(guid('devi', 2));
    expect(rings.dirty()).toEqual([]);
    rings.forget(guid('devi', 1));
    expect(rings.dirty()).toEqual([name]);
    expect(await rings.render(name)).toBeUndefined();
  });
});

describe('rings, whatever happens', () => {
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

  it('answer as a list of the last 128 keys does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 100, maxLength: 700, size: 'max' }),
        async (steps) => {
          const model = new Map<number, number[]>();
          const records: EventRecord[] = [];
          const documents = new Documents();
          let [now, marked] = [made(), 0];
          const take = ({ device, key }: Batch) => {
            const keys = model.get(device) ?? [];
            model.set(device, keys);
            const isKnown = now.rings.find(guid('devi', device), hex(key)) !== undefined;
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
              // These come after the mark, and are in some documents all the same.
              for (const late of one.late) take(late);
              for (const name of now.rings.dirty()) {
                const rendered = await now.rings.render(name);
                if (one.fails) now.rings.failed(name);
                else await documents.write(name, rendered);
              }
              if (!one.fails) marked = reached;
            } else {
              now = made();
              await documents.loadInto(now.rings);
              for (const again of records) if (again.seq > marked) now.apply(again);
            }
          }
        },
      ),
      { numRuns: 40, endOnFailure: true },
    );
  });
});
