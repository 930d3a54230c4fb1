import type { PlayerHead, PlayerMemory, PlayerState, StateChange } from '../../player/state.ts';
import type { BindingCopy } from './binding-copy.ts';
import { isQuotaExceeded, type PlayerDatabase } from './database.ts';

/** Makes room for a write that exceeded the quota. Resolves with `true` if it freed any space. */
export type FreeSpace = () => Promise<boolean>;

const noMembers: Record<keyof PlayerHead, undefined> = {
  registering: undefined,
  binding: undefined,
  rotating: undefined,
  formerKey: undefined,
  keySinceMs: undefined,
  config: undefined,
  configTag: undefined,
  playlist: undefined,
  nextSeq: undefined,
  batch: undefined,
};

/**
 * The memory of a player in IndexedDB. Each event is a record, so that a long queue is not written
 * again for each event. Each write is flushed to the disk before it resolves.
 */
export class IndexedDbMemory implements PlayerMemory {
  readonly #database: PlayerDatabase;
  readonly #copy: BindingCopy;
  readonly #freeSpace: FreeSpace;

  constructor(database: PlayerDatabase, copy: BindingCopy, freeSpace: FreeSpace) {
    this.#database = database;
    this.#copy = copy;
    this.#freeSpace = freeSpace;
  }

  /** Returns the saved state. Restores the binding from its copy if the database has lost it. */
  async load(): Promise<PlayerState | undefined> {
    const database = await this.#database.open();
    const transaction = database.transaction(['head', 'events']);
    const heads = transaction.objectStore('head');
    const events = transaction.objectStore('events');
    const [members, values, positions, queue] = await Promise.all([
      heads.getAllKeys(),
      heads.getAll(),
      events.getAllKeys(),
      events.getAll(),
    ]);
    let head: PlayerHead = {};
    for (const [index, member] of members.entries()) head = { ...head, [member]: values[index] };
    const kept = head.binding || head.registering ? undefined : this.#copy.read();
    const copy = kept && { ...kept, nextSeq: null };
    if (copy) await this.#write({ head: copy, queueStart: positions[0] ?? 0, added: [] });
    if (members.length === 0 && queue.length === 0 && !copy) return undefined;
    return { format: 1, ...head, ...copy, queue, queueStart: positions[0] ?? 0 };
  }

  save({ format: _, queue, queueStart = 0, ...head }: PlayerState): Promise<void> {
    const added = queue.map((event, index) => ({ position: queueStart + index, event }));
    // All earlier events leave the queue before the new events are added.
    const allEvents = Number.POSITIVE_INFINITY;
    return this.update({ head: { ...noMembers, ...head }, queueStart: allEvents, added });
  }

  async update(change: StateChange): Promise<void> {
    this.#copy.update(change.head);
    try {
      await this.#write(change);
    } catch (error) {
      if (!isQuotaExceeded(error) || !(await this.#freeSpace())) throw error;
      await this.#write(change);
    }
  }

  async #write({ head, queueStart, added }: StateChange): Promise<void> {
    const database = await this.#database.open();
    const transaction = database.transaction(['head', 'events'], 'readwrite', {
      durability: 'strict',
    });
    const heads = transaction.objectStore('head');
    const events = transaction.objectStore('events');
    const writes: Promise<unknown>[] = [events.delete(IDBKeyRange.upperBound(queueStart, true))];
    for (const { position, event } of added) writes.push(events.put(event, position));
    for (const [member, value] of Object.entries(head)) {
      const name = member as keyof PlayerHead;
      writes.push(value === undefined ? heads.delete(name) : heads.put(value, name));
    }
    await Promise.all([...writes, transaction.done]);
  }
}
