import { addTo, type ImpressionCount } from '../../../domain/events/batch-counts.ts';
import type { ReportGroup } from '../../../domain/records/report.ts';
import { counterGroupOf, type DayCount, groupOrder, scopesOf } from '../../impression-counts.ts';
import type { EventBatch } from '../../queries.ts';

/** Counts of one section on one day, by key: an id in lower case, or a day. */
type CountsByKey = Map<string, ImpressionCount>;

/** Tenant, venue and screen of a batch, and whether its device is simulated. */
type BatchSource = Pick<EventBatch, 'tenantId' | 'venueId' | 'screenId' | 'simulated'>;

/**
 * Counts the impressions of the days that one document holds. A document has the lines
 * `["1-campaign","<scope>","<day>","<key>",<impressions>,<seconds>]`, sorted by all members before
 * the counts.
 */
export class ImpressionCounter {
  /** Counts by section and day. A section is a combination of group and scope. */
  readonly sections = new Map<string, Map<string, CountsByKey>>();
  /** Interned keys, so that sections with the same key share one string. */
  readonly #keys = new Map<string, string>();
  /**
   * Cache of the counts of all groups, by scope and day. Building the name of a section for each
   * batch would cost more than counting the batch.
   */
  readonly #groups = new Map<string, Map<string, Record<ReportGroup, CountsByKey>>>();

  get isEmpty(): boolean {
    return this.sections.size === 0;
  }

  /** Adds the counts of one day of a batch to the counters of its tenant and of its venue. */
  add(source: BatchSource, { day, sums }: DayCount): void {
    const { venueId, screenId } = source;
    for (const scope of scopesOf(source)) {
      const groups = this.#groupsOf(scope, day);
      this.#count(groups.day, day, sums.all);
      this.#count(groups.screen, screenId.toLowerCase(), sums.all);
      this.#count(groups.venue, venueId.toLowerCase(), sums.all);
      for (const [id, cell] of sums.campaigns) this.#count(groups.campaign, id, cell);
      for (const [id, cell] of sums.creatives) this.#count(groups.creative, id, cell);
      for (const [id, cell] of sums.entries) this.#count(groups.entry, id, cell);
    }
  }

  /** Adds to one counter. `scope` comes from `scopesOf`. */
  addCell(
    scope: string,
    day: string,
    group: ReportGroup,
    key: string,
    cell: ImpressionCount,
  ): void {
    this.#count(this.#groupsOf(scope, day)[group], key, cell);
  }

  #count(counts: CountsByKey, key: string, more: ImpressionCount): void {
    const cell = counts.get(key);
    if (cell) addTo(cell, more);
    else counts.set(this.#sharedKey(key), { ...more });
  }

  #sharedKey(key: string): string {
    const shared = this.#keys.get(key);
    if (shared === undefined) this.#keys.set(key, key);
    return shared ?? key;
  }

  #groupsOf(scope: string, day: string): Record<ReportGroup, CountsByKey> {
    const days = this.#groups.get(scope) ?? new Map<string, Record<ReportGroup, CountsByKey>>();
    const known = days.get(day);
    if (known) return known;
    const created = Object.fromEntries(
      groupOrder.map((group) => [group, this.#countsOf(counterGroupOf(group, scope), day)]),
    ) as Record<ReportGroup, CountsByKey>;
    this.#groups.set(scope, days.set(day, created));
    return created;
  }

  #countsOf(section: string, day: string): CountsByKey {
    const days = this.sections.get(section) ?? new Map<string, CountsByKey>();
    const counts = days.get(day) ?? new Map<string, ImpressionCount>();
    this.sections.set(section, days.set(day, counts));
    return counts;
  }
}
