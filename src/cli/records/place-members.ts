// The members of venues and screens that people write as text. Options, columns, CSV and site files
// are made from this table; the schemas are in domain/records/.

import type { Screen, Venue } from '../../client/entities.ts';
import {
  hoursText,
  type OpeningHours,
  parseHours,
  unreadHours,
} from '../../domain/hours/hours-text.ts';
import * as option from '../input/option.ts';
import { type Setting, usage } from '../input/settings.ts';
import type { Column } from '../output/view.ts';

export type PlaceKind = 'venue' | 'screen';
export type PlaceMemberName = 'address' | 'timezone' | 'hours' | 'serial';

/** A member, as people write it. `null` is no value. */
interface PlaceMember {
  kinds: readonly PlaceKind[];
  flags: string;
  what(kind: PlaceKind): string;
  /** What holds without a value, for help. Default: nothing. */
  without?: Readonly<Record<PlaceKind, string>>;
  /** Whether tables of lists omit it. */
  wide?: boolean;
  /** Other headers of its column in tables that people write, in lower case. */
  alsoCalled?: readonly string[];
  /** Returns the text in the one form that is compared, or what it must be. Default: any text. */
  read?(text: string): { text: string } | { mistake: string };
  textOf(record: Venue | Screen): string | null;
  /** Returns the members of a request that set the value. `current`: the present one. */
  bodyOf(text: string | null, current: string | null): object;
}

const hoursForm = '"mon-fri 08:00-18:00, sat+sun 10:00-02:00, 2026-12-25 off"';
const noHours: OpeningHours = { hours: null, hoursExceptions: null };
const hoursIn = (text: string | null) => (text === null ? undefined : parseHours(text)) ?? noHours;

/** Makes a member that is a text in requests and answers, too. */
const plain = (name: string) => ({
  textOf: (record: object) => (record as Record<string, string | null>)[name] ?? null,
  bodyOf: (text: string | null) => ({ [name]: text }),
});

export const placeMembers: Readonly<Record<PlaceMemberName, PlaceMember>> = {
  address: {
    kinds: ['venue'],
    flags: '--address <text>',
    what: () => 'where it is',
    ...plain('address'),
  },
  timezone: {
    kinds: ['venue'],
    flags: '--timezone <zone>',
    what: () => 'its time zone, such as Europe/Berlin',
    alsoCalled: ['time zone'],
    ...plain('timezone'),
  },
  hours: {
    kinds: ['venue', 'screen'],
    flags: '--hours <hours>',
    what: (kind) =>
      `when it is ${kind === 'venue' ? 'open' : 'on'}, such as ${hoursForm}${kind === 'venue' ? '' : ', or always'}`,
    without: { venue: 'always', screen: 'as its venue' },
    wide: true,
    alsoCalled: ['opening hours'],
    read(text) {
      const hours = parseHours(text);
      if (hours) return { text: hoursText(hours) ?? '' };
      return { mistake: `must be such as ${hoursForm}, or always, not "${unreadHours(text)}"` };
    },
    textOf: hoursText,
    bodyOf(text, current) {
      const { hours, hoursExceptions } = hoursIn(text);
      // A service that knows no exceptions is not sent the member.
      const isSet = hoursExceptions !== null || hoursIn(current).hoursExceptions !== null;
      return { hours, ...(isSet && { hoursExceptions }) };
    },
  },
  serial: {
    kinds: ['screen'],
    flags: '--serial <text>',
    what: () => 'serial number of the TV that it expects; preselects, and never pairs',
    wide: true,
    alsoCalled: ['serial number'],
    ...plain('serial'),
  },
};

/** Members as text. `undefined`: not given. */
export type PlaceTexts = { [K in PlaceMemberName]?: string | null | undefined };

export const membersOf = (kind: PlaceKind): [PlaceMemberName, PlaceMember][] =>
  Object.entries(placeMembers)
    .filter(([, { kinds }]) => kinds.includes(kind))
    .map(([name, member]) => [name as PlaceMemberName, member]);

/** Makes the options that set the members of a new record, or of one that exists. */
export function placeOptions(
  kind: PlaceKind,
  change: 'create' | 'update',
): Record<PlaceMemberName, Setting<string | undefined>> {
  const options = membersOf(kind).map(([name, { flags, what, without, read }]) => {
    const empty = without ? `empty for ${without[kind]}` : 'empty removes it';
    const ends = change === 'update' ? [empty] : without ? [`default: ${without[kind]}`] : [];
    const setting = option.text(flags, [what(kind), ...ends].join('; '));
    const readText = (text: string, source: string) => {
      const result = text.trim() === '' ? { text: '' } : (read?.(text) ?? { text });
      if ('mistake' in result) throw usage(`${source} ${result.mistake}.`);
      return result.text;
    };
    return [name, { ...setting, read: readText }];
  });
  return Object.fromEntries(options);
}

/** Returns the options that change a record, for messages: `--name, --hours or --label`. */
export const changeFlags = (kind: PlaceKind): string =>
  `${['--name', ...membersOf(kind).map(([, { flags }]) => flags.replace(/ .*/, ''))].join(', ')} or --label`;

/** Returns the given members as a request sets them. `record`: as it is, if it exists. */
export function placeBody(kind: PlaceKind, texts: PlaceTexts, record?: Venue | Screen): object {
  const given = membersOf(kind).filter(([name]) => texts[name] !== undefined);
  return Object.assign(
    {},
    ...given.map(([name, { textOf, bodyOf }]) =>
      bodyOf(texts[name] || null, record ? textOf(record) : null),
    ),
  );
}

/** Whether a member is given. */
export const givesPlaceText = (kind: PlaceKind, texts: PlaceTexts): boolean =>
  membersOf(kind).some(([name]) => texts[name] !== undefined);

/** Whether a record has the given members already. */
export const hasPlaceTexts = (kind: PlaceKind, record: Venue | Screen, given: PlaceTexts) =>
  membersOf(kind).every(
    ([name, { textOf }]) => given[name] === undefined || (given[name] || null) === textOf(record),
  );

export const placeTexts = (kind: PlaceKind, record: Venue | Screen): PlaceTexts =>
  Object.fromEntries(membersOf(kind).map(([name, { textOf }]) => [name, textOf(record)]));

/** Makes the columns of the members that lists show, or omit. */
export const placeColumns = (kind: PlaceKind, which: 'shown' | 'wide'): Column<Venue | Screen>[] =>
  membersOf(kind)
    .filter(([, { wide }]) => (wide === true) === (which === 'wide'))
    .map(([name, { textOf, wide }]) => ({ name, value: textOf, ...(wide && { wide }) }));
