import type { ImpressionCount } from '../../../domain/events/batch-counts.ts';
import type { ReportGroup } from '../../../domain/records/report.ts';
import { counterGroupOf, type DayCount, groupOrder } from '../../impression-counts.ts';
import { CounterTable } from './counter-table.ts';

/** No key has this number. */
const noKey = -1;
/**
 * Counters are split over this many tables: a single table of half a million takes 25 ms to grow.
 */
const tables = 32;

/** Origin of a batch. */
interface BatchSource {
  tenantId: string;
  venueId: string;
  screenId: string;
}

/** Owner numbers of one scope's sections on one day. */
type Owners = Record<ReportGroup, number>;

/**
 * Counts the impressions of one document's day or days. A document has the lines
 * `["1-campaign","<tenant or venue>","<day>","<key>",<impressions>,<seconds>]`, sorted by all
 * members before the counts.
 */
export class ImpressionCounter {
  /** Owner numbers by section and day. A section is a group and a scope. */
  readonly sections = new Map<string, Map<string, number>>();
  /** Created on first use: a start creates an empty counter for each day of a year. */
  readonly #tables: CounterTable[] = [];
  #nextOwner = 0;
  /**
   * Interned keys: ids in lower case, and days. JSON escapes nothing in them. Many sections share
   * the same keys.
   */
  readonly #keys: string[] = [];
  readonly #numbers = new Map<string, number>();
  /**
   * Cache of owner numbers by scope and day. Building a section's name for each batch would cost
   * more than counting it.
   */
  readonly #owners = new Map<string, Map<string, Owners>>();

  /** Adds a day of a batch, once for its tenant and once for its venue. */
  add({ tenantId, venueId, screenId }: BatchSource, { day, sums }: DayCount): void {
    const both = [this.#ownersOf(tenantId, day), this.#ownersOf(venueId, day)] as const;
    this.#addTo(both, 'day', day, sums.all);
    this.#addTo(both, 'screen', screenId.toLowerCase(), sums.all);
    this.#addTo(both, 'venue', venueId.toLowerCase(), sums.all);
    for (const [id, cell] of sums.campaigns) this.#addTo(both, 'campaign', id, cell);
    for (const [id, cell] of sums.creatives) this.#addTo(both, 'creative', id, cell);
  }

  #addTo(owners: readonly Owners[], group: ReportGroup, key: string, cell: ImpressionCount): void {
    const number = this.#numberOf(key);
    for (const owner of owners) this.#add(owner[group], number, cell);
  }

  /** Adds to one counter. `scope` is the id of a tenant or a venue. */
  addCell(
    scope: string,
    day: string,
    group: ReportGroup,
    key: string,
    cell: ImpressionCount,
  ): void {
    this.#add(this.#ownersOf(scope, day)[group], this.#numberOf(key), cell);
  }

  /** Adds all counters of another. */
  addAll(other: ImpressionCounter): void {
    for (const [section, days] of other.sections) {
      for (const [day, theirs] of days) {
        const ours = this.#ownerOf(section, day);
        for (const [key, cell] of other.cellsOf(theirs)) this.#add(ours, this.#numberOf(key), cell);
      }
    }
  }

  /** Yields the keys and counts of one section's day, unordered. */
  *cellsOf(owner: number): Generator<[key: string, cell: ImpressionCount]> {
    const table = this.#tableOf(owner);
    for (const number of table.keysOf(owner))
      yield [this.#keys[number] as string, table.get(owner, number)];
  }

  /** Returns the count of one key, or zeros if there is none. */
  cellOf(owner: number, key: string): ImpressionCount {
    return this.#tableOf(owner).get(owner, this.#numbers.get(key) ?? noKey);
  }

  #add(owner: number, key: number, cell: ImpressionCount): void {
    this.#tableOf(owner).add(owner, key, cell);
  }

  #tableOf(owner: number): CounterTable {
    const index = owner % tables;
    this.#tables[index] ??= new CounterTable();
    return this.#tables[index];
  }

  #ownersOf(scope: string, day: string): Owners {
    const days = this.#owners.get(scope) ?? new Map<string, Owners>();
    const known = days.get(day);
    if (known) return known;
    const created = Object.fromEntries(
      groupOrder.map((group) => [group, this.#ownerOf(counterGroupOf(group, scope), day)]),
    ) as Owners;
    this.#owners.set(scope, days.set(day, created));
    return created;
  }

  #ownerOf(section: string, day: string): number {
    const days = this.sections.get(section) ?? new Map<string, number>();
    const owner = days.get(day) ?? this.#nextOwner++;
    this.sections.set(section, days.set(day, owner));
    return owner;
  }

  #numberOf(key: string): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#keys.push(key) - 1;
    this.#numbers.set(key, number);
    return number;
  }
}
