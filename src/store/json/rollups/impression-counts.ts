import type { Cell } from '../../../domain/events/batch-counts.ts';
import type { ReportGroup } from '../../../domain/records/report.ts';
import { counterGroupOf, type DayCount, groupOrder } from '../../impression-counts.ts';
import { CounterTable } from './counter-table.ts';

/** What no key has. */
const noKey = -1;
/** A table of half a million cells grows in 25 ms; so many smaller ones grow one at a time. */
const tables = 32;

/** Where a batch came from. */
interface BatchPlace {
  tenantId: string;
  venueId: string;
  screenId: string;
}

/** The numbers of a scope's sections on a day. */
type Owners = Record<ReportGroup, number>;

/**
 * What is counted of one document's day (or days), as it stands in lines: `["1-campaign","<tenant or venue>","<day>","<key>",<impressions>,<seconds>]`,
 * sorted by all before the counts.
 */
export class ImpressionCounter {
  /** By section, that is group and scope, and by day: by what number its cells are found. */
  readonly sections = new Map<string, Map<string, number>>();
  /** Each when it is first needed: a start has an empty tally for each day of a year. */
  readonly #tables: CounterTable[] = [];
  #owned = 0;
  /** Ids in lower case, and days: text that JSON has no escapes for. Many sections have the same. */
  readonly #keys: string[] = [];
  readonly #numbers = new Map<string, number>();
  /** The same sections by scope and day: to make a section's name for each batch costs more than to count it. */
  readonly #owners = new Map<string, Map<string, Owners>>();

  /** What a batch has of a day: once for its tenant, once for its venue. */
  add({ tenantId, venueId, screenId }: BatchPlace, { day, sums }: DayCount): void {
    const both = [this.#ownersOf(tenantId, day), this.#ownersOf(venueId, day)] as const;
    this.#addTo(both, 'day', day, sums.all);
    this.#addTo(both, 'screen', screenId.toLowerCase(), sums.all);
    this.#addTo(both, 'venue', venueId.toLowerCase(), sums.all);
    for (const [id, cell] of sums.campaigns) this.#addTo(both, 'campaign', id, cell);
    for (const [id, cell] of sums.creatives) this.#addTo(both, 'creative', id, cell);
  }

  #addTo(owners: readonly Owners[], group: ReportGroup, key: string, cell: Cell): void {
    const number = this.#numberOf(key);
    for (const owner of owners) this.#add(owner[group], number, cell);
  }

  /** `scope` is a tenant, or a venue. */
  addCell(scope: string, day: string, group: ReportGroup, key: string, cell: Cell): void {
    this.#add(this.#ownersOf(scope, day)[group], this.#numberOf(key), cell);
  }

  /** Takes in all of another. */
  addAll(other: ImpressionCounter): void {
    for (const [section, days] of other.sections) {
      for (const [day, theirs] of days) {
        const ours = this.#ownerOf(section, day);
        for (const [key, cell] of other.cellsOf(theirs)) this.#add(ours, this.#numberOf(key), cell);
      }
    }
  }

  /** Keys and cells of one section's day, in no order. */
  *cellsOf(owner: number): Generator<[key: string, cell: Cell]> {
    const table = this.#tableOf(owner);
    for (const number of table.keysOf(owner))
      yield [this.#keys[number] as string, table.get(owner, number)];
  }

  /** One of its cells; nothing is counted where there is none. */
  cellOf(owner: number, key: string): Cell {
    return this.#tableOf(owner).get(owner, this.#numbers.get(key) ?? noKey);
  }

  #add(owner: number, key: number, cell: Cell): void {
    this.#tableOf(owner).add(owner, key, cell);
  }

  #tableOf(owner: number): CounterTable {
    const place = owner % tables;
    this.#tables[place] ??= new CounterTable();
    return this.#tables[place];
  }

  #ownersOf(scope: string, day: string): Owners {
    const days = this.#owners.get(scope) ?? new Map<string, Owners>();
    const known = days.get(day);
    if (known) return known;
    const made = Object.fromEntries(
      groupOrder.map((group) => [group, this.#ownerOf(counterGroupOf(group, scope), day)]),
    ) as Owners;
    this.#owners.set(scope, days.set(day, made));
    return made;
  }

  #ownerOf(section: string, day: string): number {
    const days = this.sections.get(section) ?? new Map<string, number>();
    const owner = days.get(day) ?? this.#owned++;
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
