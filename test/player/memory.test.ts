import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventInput } from '../../src/client/entities.ts';
import { EventQueue } from '../../src/player/event-queue.ts';
import { SavedPlayerState } from '../../src/player/saved-state.ts';
import type { PlayerHead, PlayerMemory, PlayerState, StateChange } from '../../src/player/state.ts';

const event = (at: number): EventInput => ({ type: 'log', timestamp: 1, at });
const events = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => event(from + index));

/** A memory that keeps one record for each event, as a database does. */
class RecordMemory implements PlayerMemory {
  readonly changes: StateChange[] = [];
  readonly #events = new Map<number, EventInput>();
  #head: PlayerHead = {};
  isFull = false;

  async load(): Promise<PlayerState | undefined> {
    const positions = [...this.#events.keys()].sort((a, b) => a - b);
    return {
      format: 1,
      ...this.#head,
      queue: positions.map((position) => this.#events.get(position) as EventInput),
      queueStart: positions[0],
    };
  }

  async save(): Promise<void> {
    throw new Error('A memory with update is never asked to save everything.');
  }

  async update(change: StateChange): Promise<void> {
    if (this.isFull) throw new Error('The disk is full.');
    this.changes.push(change);
    this.#head = { ...this.#head, ...change.head };
    for (const position of [...this.#events.keys()])
      if (position < change.queueStart) this.#events.delete(position);
    for (const { position, event } of change.added) this.#events.set(position, event);
  }
}

const recordOf = (memory: PlayerMemory) => new SavedPlayerState(memory, (work) => work());

describe('The saved state of a player', () => {
  it('is changed by the new events alone', async () => {
    const memory = new RecordMemory();
    const record = recordOf(memory);
    record.change({ keySinceMs: 1 });
    for (const one of events(0, 3)) record.queue.push(one);
    await record.save();
    record.queue.push(event(3));
    await record.save();
    record.queue.shift(2);
    record.change({ keySinceMs: undefined });
    await record.save();
    const added = memory.changes.map((change) => change.added.map(({ position }) => position));
    expect(added).toEqual([[0, 1, 2], [3], []]);
    expect(memory.changes.map(({ queueStart }) => queueStart)).toEqual([0, 0, 2]);
    expect(memory.changes.map(({ head }) => head)).toEqual([
      { keySinceMs: 1 },
      {},
      { keySinceMs: undefined },
    ]);
  });

  it('is complete in the memory after any changes, also after saves that failed', async () => {
    const step = fc.oneof(
      fc.record({ what: fc.constantFrom('push', 'shift', 'putBack'), count: fc.nat(6) }),
      fc.record({ what: fc.constantFrom('save', 'fail', 'restart'), count: fc.constant(0) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const memory = new RecordMemory();
        let record = recordOf(memory);
        let taken: EventInput[] = [];
        let next = 0;
        for (const { what, count } of steps) {
          if (what === 'push') {
            for (const one of events(next, count)) record.queue.push(one);
            next += count;
          }
          if (what === 'shift') taken = record.queue.shift(count);
          if (what === 'putBack') record.queue.unshift(taken.splice(0, count));
          memory.isFull = what === 'fail';
          if (what === 'save' || what === 'fail') await record.save().catch(() => {});
          memory.isFull = false;
          if (what !== 'restart') continue;
          await record.save();
          record = recordOf(memory);
          await record.load();
        }
        const expected = record.queue.toArray();
        await record.save();
        expect((await memory.load())?.queue).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('A queue of 200,000 events', () => {
  it('takes and drops an event in constant time', () => {
    const queue = new EventQueue(events(0, 200_000));
    const startedMs = performance.now();
    for (let at = 0; at < 200_000; at++) {
      queue.push(event(at));
      queue.shift(1);
      queue.takeChange();
    }
    // Copying the queue for each event would take minutes.
    expect(performance.now() - startedMs).toBeLessThan(5000);
    expect([queue.length, queue.start]).toEqual([200_000, 200_000]);
  });
});
