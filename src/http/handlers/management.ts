import { minuteMs } from '../../domain/clock.ts';
import { revision } from '../../domain/etag.ts';
import type { ConfigBody } from '../../domain/records/config.ts';
import type { ConfigLevel } from '../../domain/records/rows.ts';
import type { IdempotentRequest } from '../../service/creations.ts';
import type { Services } from '../../service/services.ts';
import type { OperationId } from '../../wire/operations.ts';
import { makeLongPollReply } from '../request/held.ts';
import type { Call, Handlers, Reply } from '../request/pipeline.ts';
import { secretIdempotencyKey } from '../request/validate.ts';
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

/** Replies with a record, and its revision as `ETag`. */
async function revised<T>(etagOf: (record: T) => string, work: Promise<T>) {
  const body = await work;
  return { body, headers: { ETag: etagOf(body) } };
}

/** Replies with a new record, its revision as `ETag`, and its path as `Location`. */
async function created<T extends { id: string }>(
  collection: string,
  etagOf: (record: T) => string,
  work: Promise<T>,
): Promise<Reply> {
  const { body, headers } = await revised(etagOf, work);
  return { body, headers: { ...headers, Location: `/v1/${collection}/${body.id}` } };
}

/** Path of the status of a code. */
export const codePath = (code: string) => `/v1/devices/provisioning-codes/${code}/status`;

/**
 * Returns the `Idempotency-Key` of a request, with the operation and body that it stands for.
 * Returns `undefined` without the header.
 */
export function idempotentRequest(
  operation: OperationId,
  { request, sent }: Pick<Call<OperationId>, 'request' | 'sent'>,
): IdempotentRequest | undefined {
  const key = secretIdempotencyKey(request);
  return key === undefined ? undefined : { operation, key, body: sent.bytes };
}

/** Handlers of the management API (docs/protocol.md §4, §5). `stopping` ends long polls. */
export function managementHandlers(services: Services, stopping: AbortSignal) {
  const longPollReply = makeLongPollReply(stopping);
  const { backups, codes, copies, deps, playlists } = services;
  const { reading, requests, screenStatus, telemetry } = services;
  return {
    ...recordHandlers(services),
    ...configHandlers(services),

    async publishPlaylist({ caller, id, body, precondition }) {
      const { playlist, etag } = await playlists.publish(caller, id, body, precondition);
      return { body: playlist, headers: { ETag: etag } };
    },
    async readPlaylist({ caller, id }) {
      const { playlist, etag } = await playlists.get(caller, id);
      return { body: playlist, headers: { ETag: etag } };
    },
    withdrawPlaylist: ({ caller, id, precondition }) =>
      done(playlists.withdraw(caller, id, precondition)),
    refreshPlaylist: ({ caller, id }) => result(services.refreshPlaylist(caller, id)),
    listPlaylistVersions: ({ caller, id, query }) => result(playlists.versions(caller, id, query)),

    async createCode(call) {
      const { caller, body: wanted } = call;
      const request = idempotentRequest('createCode', call);
      const body = await codes.create(caller, wanted, request);
      return { body, headers: { Location: codePath(body.code), ...noStore } };
    },
    getCodeStatus: ({ caller, id, query, request }) =>
      longPollReply(request, query, (signal) =>
        codes.status(caller, id, query.waitSeconds, signal),
      ),
    cancelCode: ({ caller, id }) => done(codes.cancel(caller, id)),

    listMirror: ({ caller, query, slot }) => result(copies.list(caller, query, slot?.signal)),
    repairMirror: ({ caller }) => result(copies.repair(caller)),

    listScreenStatus: ({ caller, query, slot }) =>
      result(screenStatus.list(caller, query, slot?.signal)),
    listEvents: ({ caller, query, request, slot }) =>
      longPollReply(request, query, (signal) => telemetry.list(caller, query, signal, slot)),
    async createBackup({ caller, request }) {
      request.outgoing?.setTimeout(backupStallMs);
      const day = new Date(deps.clock.now()).toISOString().slice(0, 10);
      return {
        body: await backups.create(caller),
        type: 'application/x-tar',
        headers: {
          'Content-Disposition': `attachment; filename="signage-${day}.tar"`,
          ...noStore,
        },
      };
    },
    reportImpressions: async ({ caller, query, request }) =>
      reportCsv(await reading.impressions(caller, query), request.context),
    listAudit: ({ caller, query }) => result(reading.audit(caller, query)),
    listRequests: ({ caller, query }) => result(requests.list(caller, query)),
  } satisfies Partial<Handlers>;
}

function recordHandlers({ tenants, tokens, rotateToken, venues, screens, devices }: Services) {
  return {
    createTenant(call) {
      const request = idempotentRequest('createTenant', call);
      return created('tenants', revision.tenant, tenants.create(call.caller, call.body, request));
    },
    listTenants: ({ query, slot }) => result(tenants.list(query, slot?.signal)),
    getTenant: ({ caller, id }) => revised(revision.tenant, tenants.get(caller, id)),
    updateTenant: ({ caller, id, body, precondition }) =>
      revised(revision.tenant, tenants.update(caller, id, body, precondition)),
    deleteTenant: ({ caller, id, precondition }) => done(tenants.remove(caller, id, precondition)),

    async createToken(call) {
      const request = idempotentRequest('createToken', call);
      const work = tokens.create(call.caller, call.body, request);
      const reply = await created('tokens', revision.token, work);
      return { ...reply, headers: { ...reply.headers, ...noStore } };
    },
    listTokens: ({ caller, query, slot }) => result(tokens.list(caller, query, slot?.signal)),
    getToken: ({ caller, id }) => revised(revision.token, tokens.get(caller, id)),
    deleteToken: ({ caller, id, precondition }) => done(tokens.remove(caller, id, precondition)),
    rotateToken(call) {
      const request = idempotentRequest('rotateToken', call);
      return revised(revision.token, rotateToken(call.caller, call.id, request));
    },
    getMe: ({ caller }) => result(tokens.me(caller)),

    createVenue(call) {
      const request = idempotentRequest('createVenue', call);
      return created('venues', revision.venue, venues.create(call.caller, call.body, request));
    },
    listVenues: ({ caller, query, slot }) => result(venues.list(caller, query, slot?.signal)),
    getVenue: ({ caller, id }) => revised(revision.venue, venues.get(caller, id)),
    updateVenue: ({ caller, id, body, precondition }) =>
      revised(revision.venue, venues.update(caller, id, body, precondition)),
    deleteVenue: ({ caller, id, precondition }) => done(venues.remove(caller, id, precondition)),

    createScreen(call) {
      const request = idempotentRequest('createScreen', call);
      return created('screens', revision.screen, screens.create(call.caller, call.body, request));
    },
    listScreens: ({ caller, query, slot }) => result(screens.list(caller, query, slot?.signal)),
    getScreen: ({ caller, id }) => revised(revision.screen, screens.get(caller, id)),
    updateScreen: ({ caller, id, body, precondition }) =>
      revised(revision.screen, screens.update(caller, id, body, precondition)),
    deleteScreen: ({ caller, id, query, precondition }) =>
      done(screens.remove(caller, id, query.force === true, precondition)),

    listDevices: ({ caller, query, slot }) => result(devices.list(caller, query, slot?.signal)),
    getDevice: ({ caller, id }) => result(devices.get(caller, id)),
    revokeDevice: ({ caller, id, body }) =>
      result(devices.revoke(caller, id, body?.reason ?? null)),
  } satisfies Partial<Handlers>;
}

function configHandlers({ configs }: Services) {
  type OwnerCall = Pick<Call<'getScreenConfig'>, 'caller' | 'id' | 'precondition'>;
  const get =
    (level: ConfigLevel) =>
    ({ caller, id }: OwnerCall) =>
      revised(revision.config, configs.get(caller, level, id));
  const put =
    (level: ConfigLevel) =>
    ({ caller, id, body, precondition }: OwnerCall & { body: ConfigBody }) =>
      revised(revision.config, configs.put(caller, level, id, body, precondition));
  const remove =
    (level: ConfigLevel) =>
    ({ caller, id, precondition }: OwnerCall) =>
      done(configs.remove(caller, level, id, precondition));
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
