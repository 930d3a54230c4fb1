import { isDeepStrictEqual } from 'node:util';
import { SignageError } from '../../../domain/error.ts';
import type { UpcomingChange } from '../../connection/client.ts';
import { preconditionOf } from '../../connection/conditional.ts';
import type { CommandContext } from '../../program/context.ts';
import { orUndefined } from '../../records/find.ts';
import { venueNames } from '../../records/names.ts';
import { countText } from '../../terminal/text.ts';

/** A screen that a change affects. */
interface AffectedScreen {
  id: string;
  name: string;
  screen: { venueId: string; deviceId: string | null };
}

/** What a change replaces. `null`: nothing. */
export interface Replaced {
  kind: 'playlist' | 'takeover' | 'schedule' | 'venue schedule' | 'pairing' | 'claim';
  id: string;
  /** Name of the screen or venue. */
  name: string;
  etag: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the record as read
  value: any;
}

/** What a change will do, as the service was when it was asked. */
export interface ChangePlan {
  requests: readonly UpcomingChange[];
  screens: readonly AffectedScreen[];
  replaced: readonly Replaced[];
}

/** The body of a change of screens. */
interface Body {
  screenIds?: string[];
  screenId?: string;
  action?: string;
  items?: { name?: string; creativeUrl?: string; duration?: number }[];
  entries?: { name?: string }[];
  until?: number;
  validUntil?: number | null;
}

export const bodyOf = ({ body }: UpcomingChange) => (body ?? {}) as Body;

/** Returns the ids of the screens that a request names. */
const screenIdsOf = ({ id, params = {}, ...change }: UpcomingChange): string[] => {
  const { screenIds, screenId } = bodyOf(change);
  if (screenIds) return screenIds;
  if (screenId !== undefined) return [screenId];
  return id === undefined || /Venue|Claim/.test(id) || !params.id ? [] : [params.id];
};
const venueIdOf = ({ id, params = {} }: UpcomingChange) =>
  id?.endsWith('VenueSchedule') ? params.id : undefined;

/** Returns the kind of record that a request replaces. `undefined`: an upload. */
function kindOf(change: UpcomingChange): Replaced['kind'] | undefined {
  const { id = '' } = change;
  if (/akeover/.test(id) || bodyOf(change).action === 'takeover') return 'takeover';
  if (id.endsWith('VenueSchedule')) return 'venue schedule';
  if (id.endsWith('ScreenSchedule')) return 'schedule';
  if (id === 'createCode' || id === 'offerClaim') return 'pairing';
  return id === '' ? undefined : 'playlist';
}

async function readReplaced(call: CommandContext, kind: Replaced['kind'], id: string) {
  const params = { id };
  const missing = ['takeover_not_found', 'playlist_not_found', 'schedule_not_found'] as const;
  const reading = {
    playlist: () => call.readWithEtag('readPlaylist', { params }),
    takeover: () => call.readWithEtag('getTakeover', { params }),
    schedule: () => call.readWithEtag('getScreenSchedule', { params }),
    'venue schedule': () => call.readWithEtag('getVenueSchedule', { params }),
    pairing: async () => {
      const { answer } = await call.readWithEtag('getScreen', { params });
      return { answer: { deviceId: answer.deviceId }, etag: undefined };
    },
    claim: async () => {
      const answer = await call.read('getClaim', { params: { claim: id } });
      const { deviceInfo, status, address } = answer;
      return { answer: { deviceInfo, status, address }, etag: undefined };
    },
  }[kind];
  const found = await orUndefined<{ answer: unknown; etag: string | undefined }>(
    reading(),
    ...missing,
  );
  return { value: found?.answer ?? null, etag: found?.etag };
}

/** Reads what the requests of a change replace, and the screens that they affect. */
export async function planChange(
  call: CommandContext,
  requests: readonly UpcomingChange[],
): Promise<ChangePlan> {
  const ids = new Set(requests.flatMap(screenIdsOf));
  const venueIds = new Set(requests.map(venueIdOf));
  const venues = await venueNames(call);
  const screens = (await call.all('listScreens'))
    .filter(({ id, venueId }) => ids.has(id) || venueIds.has(venueId))
    .map((screen) => ({
      id: screen.id,
      name: `${venues.get(screen.venueId) ?? screen.venueId}/${screen.name}`,
      screen: { venueId: screen.venueId, deviceId: screen.deviceId },
    }));
  const names = new Map([...venues, ...screens.map(({ id, name }) => [id, name] as const)]);
  const replaced: Replaced[] = [];
  for (const request of requests) {
    const kind = kindOf(request);
    const venueId = venueIdOf(request);
    const places: [Replaced['kind'], string][] = [];
    for (const id of venueId === undefined ? screenIdsOf(request) : [venueId])
      if (kind) places.push([kind, id]);
    if (request.id === 'offerClaim') places.push(['claim', request.params?.claim ?? '']);
    for (const [one, id] of places)
      replaced.push({
        kind: one,
        id,
        name: names.get(id) ?? id,
        ...(await readReplaced(call, one, id)),
      });
  }
  return { requests, screens, replaced };
}

const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

/** Says what is there now: `version 3, 4 items, no end`. */
export function describeReplaced({ kind, value }: Replaced): string {
  if (kind === 'pairing') return value.deviceId === null ? 'no TV' : `the TV ${value.deviceId}`;
  if (kind === 'claim') return `a TV that is ${value.status}`;
  if (value === null) return `no ${kind}`;
  if (kind === 'playlist') {
    const end = value.validUntil === null ? 'no end' : `until ${iso(value.validUntil)}`;
    return `version ${value.version}, ${countText(value.items.length, 'item')}, ${end}`;
  }
  if (kind === 'takeover')
    return `a takeover of ${countText(value.items.length, 'item')} until ${iso(value.until)}`;
  return `a schedule with ${value.entries.length} entries`;
}

/** Returns the pathname of an upload, and the whole request otherwise. */
const comparable = ({ id, method, path, body }: UpcomingChange) =>
  id === undefined ? [method, path.split('?')[0]] : [method, path, body];

/** Throws `precondition_failed` with what has changed since the plan. */
export function requireSame(plan: ChangePlan, now: ChangePlan): void {
  const changes: string[] = [];
  for (const before of plan.replaced) {
    const { kind, id, name, value, etag } = before;
    const after = now.replaced.find((one) => one.kind === kind && one.id === id);
    if (!after || (after.etag === etag && isDeepStrictEqual(after.value, value))) continue;
    const [was, is] = [describeReplaced(before), describeReplaced(after)];
    const what = `${kind} of "${name}"`;
    changes.push(was === is ? `The ${what} was changed.` : `The ${what} was ${was}. Now: ${is}.`);
  }
  const ids = ({ screens }: ChangePlan) => screens.map(({ id }) => id);
  if (!isDeepStrictEqual(ids(plan), ids(now)))
    changes.push(`It was for ${plan.screens.length} screens. Now: ${now.screens.length}.`);
  // An upload is left out when the service has the file by now.
  const isSent = (one: UpcomingChange) => one.id !== undefined;
  const sent = (one: ChangePlan) => one.requests.filter(isSent).map(comparable);
  if (changes.length === 0 && !isDeepStrictEqual(sent(plan), sent(now)))
    changes.push('The files, or other records that decide what is sent, have changed.');
  if (changes.length > 0)
    throw new SignageError('precondition_failed', `Nothing was changed. ${changes.join(' ')}`, {
      hint: 'Call the tool again without confirm, for a new plan.',
    });
}

/**
 * Returns what is called before each request of a confirmed change. It refuses requests that the
 * plan does not contain, and adds preconditions, so that only what was read is replaced.
 */
export function makeGuard(plan: ChangePlan) {
  const allowed = plan.requests.map(comparable);
  return async (change: UpcomingChange) => {
    const isUpload = change.id === undefined && change.path.startsWith('/v1/media/');
    if (!isUpload && !allowed.some((one) => isDeepStrictEqual(one, comparable(change))))
      throw new SignageError('precondition_failed', 'The change would differ from its plan.');
    const kind = kindOf(change);
    const found = plan.replaced.filter(
      (one) => one.kind === kind && [...screenIdsOf(change), venueIdOf(change)].includes(one.id),
    );
    const [first] = found;
    if (!first) return {};
    if (change.id === 'publishMany') {
      const isTakeover = kind === 'takeover';
      const read = Object.fromEntries(
        found.map(({ id, value, etag }) => [id, (isTakeover ? etag : value?.version) ?? null]),
      );
      return { body: { [isTakeover ? 'ifTakeovers' : 'ifVersions']: read, ...bodyOf(change) } };
    }
    return kind === 'pairing'
      ? {}
      : { headers: preconditionOf(first.value === null ? null : first.etag) };
  };
}
