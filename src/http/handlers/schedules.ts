import { withStoredUrls } from '../../domain/playlists/playlist.ts';
import type { Services } from '../../service/assembly/services.ts';
import type { ScheduleLevel } from '../../service/schedules/layers.ts';
import type { BaseUrlOf } from '../request/base-url.ts';
import type { Call, Handlers } from '../request/pipeline.ts';
import { done, result } from './replies.ts';

type OwnerCall = Pick<Call<'getScreenSchedule'>, 'principal' | 'id' | 'precondition'>;
type PutCall = Call<'putScreenSchedule'> | Call<'putVenueSchedule'>;

/** Handlers of schedules and takeovers (docs/protocol.md §5.18). */
export function scheduleHandlers(
  { schedules, takeovers, explain }: Services,
  baseUrlOf: BaseUrlOf,
) {
  const get =
    (level: ScheduleLevel) =>
    async ({ principal, id }: OwnerCall) => {
      const { schedule, etag } = await schedules.get(principal, level, id);
      return { body: schedule, headers: { ETag: etag } };
    };
  const put =
    (level: ScheduleLevel) =>
    async ({ principal, id, body, precondition, request }: PutCall) => {
      const baseUrl = baseUrlOf(request);
      const entries = body.entries.map((entry) => withStoredUrls(entry, baseUrl));
      const set = await schedules.put(principal, level, id, { entries }, precondition);
      return { body: set.schedule, headers: { ETag: set.etag } };
    };
  const remove =
    (level: ScheduleLevel) =>
    ({ principal, id, precondition }: OwnerCall) =>
      done(schedules.remove(principal, level, id, precondition));
  return {
    getScreenSchedule: get('screen'),
    putScreenSchedule: put('screen'),
    deleteScreenSchedule: remove('screen'),
    getVenueSchedule: get('venue'),
    putVenueSchedule: put('venue'),
    deleteVenueSchedule: remove('venue'),
    putTakeover: async ({ principal, id, body, precondition, request }) => {
      const wanted = withStoredUrls(body, baseUrlOf(request));
      const { takeover, etag } = await takeovers.put(principal, id, wanted, precondition);
      return { body: takeover, headers: { ETag: etag } };
    },
    getTakeover: async ({ principal, id }) => {
      const { takeover, etag } = await takeovers.get(principal, id);
      return { body: takeover, headers: { ETag: etag } };
    },
    deleteTakeover: ({ principal, id, precondition }) =>
      done(takeovers.remove(principal, id, precondition)),
    explainScreen: ({ principal, id, query }) => result(explain(principal, id, query.at)),
  } satisfies Partial<Handlers>;
}
