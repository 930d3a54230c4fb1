import { type Cell, sumOfSeconds } from '../../../domain/events/batch-counts.ts';

const firstCells = 8;
/** Half of the slots are in use at most. */
const slotsPerCell = 2;
const none = -1;

/**
 * Cells by two numbers, that of an owner and that of a key. A busy minute of a large fleet has hundreds of thousands; here one takes 36 bytes, none of which
 * the garbage collector looks at, where an object in a map takes 100.
 */
export class CounterTable {
  #slots = new Int32Array(firstCells * slotsPerCell).fill(none);
  #owners = new Int32Array(firstCells);
  #keys = new Int32Array(firstCells);
  #impressions = new Float64Array(firstCells);
  #seconds = new Float64Array(firstCells);
  /** Of each cell the one of the same owner that came before it, and of each owner the last one. */
  #earlier = new Int32Array(firstCells);
  readonly #last = new Map<number, number>();
  #size = 0;

  add(owner: number, key: number, { impressions, seconds }: Cell): void {
    const cell = this.#cellFor(owner, key);
    this.#impressions[cell] = (this.#impressions[cell] as number) + impressions;
    this.#seconds[cell] = sumOfSeconds(this.#seconds[cell] as number, seconds);
  }

  /** An owner's keys. */
  *keysOf(owner: number): Generator<number> {
    for (
      let cell = this.#last.get(owner) ?? none;
      cell !== none;
      cell = this.#earlier[cell] as number
    )
      yield this.#keys[cell] as number;
  }

  /** What was added; nothing, where none was. */
  get(owner: number, key: number): Cell {
    const cell = this.#slots[this.#slotOf(owner, key)] as number;
    if (cell === none) return { impressions: 0, seconds: 0 };
    return {
      impressions: this.#impressions[cell] as number,
      seconds: this.#seconds[cell] as number,
    };
  }

  #cellFor(owner: number, key: number): number {
    const slot = this.#slotOf(owner, key);
    const known = this.#slots[slot] as number;
    if (known !== none) return known;
    const cell = this.#size++;
    this.#slots[slot] = cell;
    this.#owners[cell] = owner;
    this.#keys[cell] = key;
    this.#earlier[cell] = this.#last.get(owner) ?? none;
    this.#last.set(owner, cell);
    if (this.#size === this.#owners.length) this.#makeRoom();
    return cell;
  }

  /** The slot of a cell, or the free one where it belongs. */
  #slotOf(owner: number, key: number): number {
    const mask = this.#slots.length - 1;
    const sum = Math.imul(Math.imul(owner, 0x9e3779b1) ^ key, 0x85ebca6b);
    for (let slot = (sum ^ (sum >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const cell = this.#slots[slot] as number;
      if (cell === none || (this.#keys[cell] === key && this.#owners[cell] === owner)) return slot;
    }
  }

  #makeRoom(): void {
    const cells = 2 * this.#size;
    this.#owners = grown(this.#owners, new Int32Array(cells));
    this.#keys = grown(this.#keys, new Int32Array(cells));
    this.#earlier = grown(this.#earlier, new Int32Array(cells));
    this.#impressions = grown(this.#impressions, new Float64Array(cells));
    this.#seconds = grown(this.#seconds, new Float64Array(cells));
    this.#slots = new Int32Array(cells * slotsPerCell).fill(none);
    for (let cell = 0; cell < this.#size; cell++)
      this.#slots[this.#slotOf(this.#owners[cell] as number, this.#keys[cell] as number)] = cell;
  }
}

function grown<A extends Int32Array | Float64Array>(before: A, after: A): A {
  after.set(before);
  return after;
}
