import { dayMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { type PlayKey, sumOfSeconds } from '../../domain/events/plays.ts';
import { dayOf, type ReportGroup, type ReportQuery } from '../../domain/records/report.ts';
import type { PlayPlace, PlayVisitor } from '../../store/queries.ts';

/** Maximum number of rows of a report (docs/protocol.md §5.6). */
const maxRows = 1_000_000;

/** Throws `invalid_request` if a report has too many rows. */
export function checkRowCount(count: number): void {
  if (count > maxRows)
    throw new SignageError(
      'invalid_request',
      `The report has more than ${maxRows.toLocaleString('en')} rows: choose fewer days or screens.`,
      { errors: [{ path: 'query.groupBy', message: 'has too many rows: choose fewer days' }] },
    );
}

/** Keys of documents that were read are forgotten now and then. */
const keysKnown = 100_000;

/** The sums of one row. */
export interface PlayTotal {
  key: string;
  /** With two groups. */
  key2: string | undefined;
  impressions: number;
  seconds: number;
  partial: number;
  unknown: number;
  plays: number;
}

/** Which counts a report adds up. `undefined`: all. Ids are in lower case. */
export interface PlayFilter extends Pick<ReportQuery, 'days' | 'from' | 'to' | 'simulated'> {
  venueIds: ReadonlySet<string> | undefined;
  screenIds: ReadonlySet<string> | undefined;
}

/** Whether a report counts the plays of a screen on a day. */
export function passesPlace(
  place: Pick<PlayPlace, 'venueId' | 'screenId' | 'simulated'>,
  day: string,
  { from, to, simulated: wanted = 'include', venueIds, screenIds }: PlayFilter,
): boolean {
  if (wanted === 'exclude' ? place.simulated : wanted === 'only' && !place.simulated) return false;
  if (venueIds && !venueIds.has(place.venueId.toLowerCase())) return false;
  if (screenIds && !screenIds.has(place.screenId.toLowerCase())) return false;
  return (from === undefined || day >= from) && (to === undefined || day < to);
}

type PlaceGroup = 'screen' | 'venue' | 'day';
const placeGroups: readonly ReportGroup[] = ['screen', 'venue', 'day'];
const memberOf = { creative: 'creativeId', campaign: 'campaignId', entry: 'entryId' } as const;

function keyOfPlace(group: PlaceGroup, place: PlayPlace, day: string): string {
  if (group === 'day') return day;
  return (group === 'screen' ? place.screenId : place.venueId).toLowerCase();
}

/** Returns the names of days, each made once. */
function dayNames(): (day: number) => string {
  const names = new Map<number, string>();
  return (day) => {
    const known = names.get(day);
    if (known !== undefined) return known;
    const name = dayOf(day * dayMs);
    names.set(day, name);
    return name;
  };
}

/** Adds up counts of a store by one or two groups. Throws `invalid_request` beyond `maxRows`. */
export class PlayTotals implements PlayVisitor {
  readonly #groups: readonly ReportGroup[];
  readonly #filter: PlayFilter;
  readonly #ofPlace: readonly PlaceGroup[];
  readonly #ofKey: readonly (keyof PlayKey)[];
  /** Rows by the groups of the place, and then by those of the key. */
  readonly #rows = new Map<string, Map<string, PlayTotal>>();
  readonly #keyTexts = new Map<PlayKey, string | undefined>();
  readonly #dayName = dayNames();
  #count = 0;
  #placeText = '';
  /** The rows of the place that is read. */
  #inner = new Map<string, PlayTotal>();

  constructor(groups: readonly ReportGroup[], filter: PlayFilter) {
    this.#groups = groups;
    this.#filter = filter;
    this.#ofPlace = groups.filter((group): group is PlaceGroup => placeGroups.includes(group));
    this.#ofKey = groups.flatMap((group) =>
      group in memberOf ? [memberOf[group as keyof typeof memberOf]] : [],
    );
  }

  place(place: PlayPlace): boolean {
    const isLocal = this.#filter.days === 'venue';
    const day = this.#dayName(isLocal ? place.day + place.shift : place.day);
    if (!passesPlace(place, day, this.#filter)) return false;
    const [first, second] = this.#ofPlace;
    const one = first === undefined ? '' : keyOfPlace(first, place, day);
    const text = second === undefined ? one : `${one}\n${keyOfPlace(second, place, day)}`;
    this.#placeText = text;
    const known = this.#rows.get(text);
    this.#inner = known ?? new Map();
    // A copy, so that the row does not hold the document that its id was read from.
    if (!known) this.#rows.set(detached(text), this.#inner);
    return true;
  }

  readonly cell = (
    key: PlayKey,
    events: number,
    seconds: number,
    partial: number,
    unknown: number,
  ): void => {
    const text = this.#textOf(key);
    if (text === undefined) return;
    const row = this.#inner.get(text) ?? this.#newRow(text, key);
    if (key.campaignId === '') row.plays += events;
    else {
      row.impressions += events;
      row.seconds = sumOfSeconds(row.seconds, seconds);
    }
    row.partial += partial;
    row.unknown += unknown;
  };

  /** Adds impressions that are counted by groups already. Nothing else is known of them. */
  addImpressions(keys: readonly string[], impressions: number, seconds: number): void {
    const text = keys.join('\n');
    const rows = this.#rows.get('') ?? new Map<string, PlayTotal>();
    this.#rows.set('', rows);
    const row = rows.get(text) ?? this.#row(rows, text, keys);
    row.impressions += impressions;
    row.unknown += impressions;
    row.seconds = sumOfSeconds(row.seconds, seconds);
  }

  /** Returns the rows, sorted by their keys. */
  rows(): PlayTotal[] {
    const merged = new Map<string, PlayTotal>();
    for (const rows of this.#rows.values()) {
      for (const row of rows.values()) {
        const name = `${row.key}\n${row.key2 ?? ''}`;
        const known = merged.get(name);
        if (!known) merged.set(name, row);
        else for (const sum of sums) known[sum] = sumOfSeconds(known[sum], row[sum]);
      }
    }
    const sorted = [...merged].sort(([one], [other]) => (one < other ? -1 : 1));
    return sorted.map(([, row]) => row);
  }

  /** Returns the part of a row's key that follows from what was played. `undefined`: no row. */
  #textOf(key: PlayKey): string | undefined {
    const [first, second] = this.#ofKey;
    if (first === undefined) return '';
    if (second === undefined) return key[first] === '' ? undefined : key[first];
    if (this.#keyTexts.has(key)) return this.#keyTexts.get(key);
    if (this.#keyTexts.size >= keysKnown) this.#keyTexts.clear();
    const isWhole = key[first] !== '' && key[second] !== '';
    const text = isWhole ? `${key[first]}\n${key[second]}` : undefined;
    this.#keyTexts.set(key, text);
    return text;
  }

  #newRow(text: string, key: PlayKey): PlayTotal {
    const places = this.#placeText.split('\n').values();
    const keys = this.#groups.map((group) =>
      group in memberOf
        ? key[memberOf[group as keyof typeof memberOf]]
        : detached(places.next().value as string),
    );
    return this.#row(this.#inner, text, keys);
  }

  #row(rows: Map<string, PlayTotal>, text: string, [key = '', key2]: readonly string[]): PlayTotal {
    checkRowCount(++this.#count);
    const row = { key, key2, impressions: 0, seconds: 0, partial: 0, unknown: 0, plays: 0 };
    rows.set(text, row);
    return row;
  }
}

const sums = ['impressions', 'seconds', 'partial', 'unknown', 'plays'] as const;
/** Returns a text that is no part of another one, which would stay in memory with it. */
const detached = (text: string) => Buffer.from(text, 'latin1').toString('latin1');
