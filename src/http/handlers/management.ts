import { minuteMs } from '../../domain/clock.ts';
import type { ConfigBody } from '../../domain/records/config.ts';
import type { ConfigLevel } from '../../domain/records/rows.ts';
import type { Services } from '../../service/services.ts';
import type { Call, Handlers, Reply } from '../request/pipeline.ts';
import type { Exchange } from '../request/request-context.ts';
import { reportCsv } from './report-csv.ts';

/** Time-out for a client that reads nothing of a backup (docs/protocol.md §5.9). */
const backupStallMs = 5 * minuteMs;
/** Headers of a response that contains a secret. */
const noStore = { 'Cache-Control': 'no-store' };

/** Replies with the result of a call. */
async function result(work: Promise<unknown>): Promise<Reply> {
  return { body: await work };
}

/** Replies without a body after a call. */
async function done(work: Promise<void>): Promise<Reply> {
  await work;
  return {};
}

/** Replies with the new record and its path. */
async function created(path: string, work: Promise<{ id: string }>): Promise<Reply> {
  const body = await work;
  return { body, headers: { Location: `${path}/${body.id}` } };
}

/**
 * Calls `work` with a signal that aborts when the client disconnects or the service stops. Not
 * `AbortSignal.any`: in Node 20, each call leaks memory on the longest-lived signal.
 */
async function longPoll<T>(
  stopping: AbortSignal,
  { context }: Exchange,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Reply> {
  const disconnected = context?.req.raw.signal;
  const combined = new AbortController();
  const end = () => combined.abort();
  stopping.addEventListener('abort', end);
  disconnected?.addEventListener('abort', end);
  if (stopping.aborted || disconnected?.aborted) end();
  try {
    return { body: await work(combined.signal) };
  } finally {
    stopping.removeEventListener('abort', end);
    disconnected?.removeEventListener('abort', end);
  }
}

/** Handlers of the management API (docs/protocol.md §4, §5). `stopping` ends long polls. */
export function managementHandlers(services: Services, stopping: AbortSignal) {
  const { backups, codes, copies, deps, playlists, reading, telemetry } = services;
  return {
    ...recordHandlers(services),
    ...configHandlers(services),

    publishPlaylist: ({ caller, id, body }) => result(playlists.publish(caller, id, body)),
    readPlaylist: ({ caller, id }) => result(playlists.get(caller, id)),
    withdrawPlaylist: ({ caller, id }) => done(playlists.withdraw(caller, id)),
    listPlaylistVersions: ({ caller, id, query }) => result(playlists.versions(caller, id, query)),

    async createCode({ caller, body: { screenId } }) {
      const body = await codes.create(caller, screenId);
      const path = `/v1/devices/provisioning-codes/${body.code}/status`;
      return { body, headers: { Location: path, ...noStore } };
    },
    getCodeStatus: ({ caller, id, query, request }) =>
      longPoll(stopping, request, (signal) => codes.status(caller, id, query.waitSeconds, signal)),
    cancelCode: ({ caller, id }) => done(codes.cancel(caller, id)),

    listMirror: ({ caller, query }) => result(copies.list(caller, query)),
    repairMirror: ({ caller }) => result(copies.repair(caller)),

    listEvents: ({ caller, query, request, slot }) =>
      longPoll(stopping, request, (signal) => telemetry.list(caller, query, signal, slot)),
    async createBackup({ caller, request }) {
      request.outgoing?.setTimeout(backupStallMs);
      const day = new Date(deps.clock.now()).toISOString().slice(0, 10);
      return {
        body: await backups.create(caller),
        headers: {
          'Content-Type': 'application/x-tar',
          'Content-Disposition': `attachment; filename="signage-${day}.tar"`,
          ...noStore,
        },
      };
    },
    reportImpressions: async ({ caller, query, request }) =>
      reportCsv(await reading.impressions(caller, query), request.context),
    listAudit: ({ caller, query }) => result(reading.audit(caller, query)),
  } satisfies Partial<Handlers>;
}

function recordHandlers({ tenants, tokens, venues, screens, devices }: Services) {
  return {
    createTenant: ({ caller, body }) => created('/v1/tenants', tenants.create(caller, body)),
    listTenants: ({ query }) => result(tenants.list(query)),
    getTenant: ({ caller, id }) => result(tenants.get(caller, id)),
    updateTenant: ({ caller, id, body }) => result(tenants.update(caller, id, body)),
    deleteTenant: ({ caller, id }) => done(tenants.remove(caller, id)),

    async createToken({ caller, body }) {
      const reply = await created('/v1/tokens', tokens.create(caller, body));
      return { ...reply, headers: { ...reply.headers, ...noStore } };
    },
    listTokens: ({ caller, query }) => result(tokens.list(caller, query)),
    getToken: ({ caller, id }) => result(tokens.get(caller, id)),
    deleteToken: ({ caller, id }) => done(tokens.remove(caller, id)),
    getMe: ({ caller }) => result(tokens.me(caller)),

    createVenue: ({ caller, body }) => created('/v1/venues', venues.create(caller, body)),
    listVenues: ({ caller, query }) => result(venues.list(caller, query)),
    getVenue: ({ caller, id }) => result(venues.get(caller, id)),
    updateVenue: ({ caller, id, body }) => result(venues.update(caller, id, body)),
    deleteVenue: ({ caller, id }) => done(venues.remove(caller, id)),

    createScreen: ({ caller, body }) => created('/v1/screens', screens.create(caller, body)),
    listScreens: ({ caller, query }) => result(screens.list(caller, query)),
    getScreen: ({ caller, id }) => result(screens.get(caller, id)),
    updateScreen: ({ caller, id, body }) => result(screens.update(caller, id, body)),
    deleteScreen: ({ caller, id, query }) =>
      done(screens.remove(caller, id, query.force === 'true')),

    listDevices: ({ caller, query }) => result(devices.list(caller, query)),
    getDevice: ({ caller, id }) => result(devices.get(caller, id)),
    revokeDevice: ({ caller, id, body }) =>
      result(devices.revoke(caller, id, body?.reason ?? null)),
  } satisfies Partial<Handlers>;
}

function configHandlers({ configs }: Services) {
  type OwnerCall = Pick<Call<'getScreenConfig'>, 'caller' | 'id'>;
  const get =
    (level: ConfigLevel) =>
    ({ caller, id }: OwnerCall) =>
      result(configs.get(caller, level, id));
  const put =
    (level: ConfigLevel) =>
    ({ caller, id, body }: OwnerCall & { body: ConfigBody }) =>
      result(configs.put(caller, level, id, body));
  const remove =
    (level: ConfigLevel) =>
    ({ caller, id }: OwnerCall) =>
      done(configs.remove(caller, level, id));
  return {
    getScreenConfig: get('screen'),
    putScreenConfig: put('screen'),
    deleteScreenConfig: remove('screen'),
    getVenueConfig: get('venue'),
    putVenueConfig: put('venue'),
    deleteVenueConfig: remove('venue'),
    getTenantConfig: get('tenant'),
    putTenantConfig: put('tenant'),
    deleteTenantConfig: remove('tenant'),
  } satisfies Partial<Handlers>;
}
