import { minuteMs } from '../../domain/clock.ts';
import { revision } from '../../domain/etags/etag.ts';
import { withStoredUrls } from '../../domain/playlists/playlist.ts';
import type { ConfigBody } from '../../domain/records/config.ts';
import type { ConfigLevel } from '../../domain/records/rows.ts';
import type { Services } from '../../service/assembly/services.ts';
import type { BaseUrlOf } from '../request/base-url.ts';
import { makeLongPollReply } from '../request/held.ts';
import { type Call, type Handlers, noStore } from '../request/pipeline.ts';
import { created, done, idempotentRequest, result, revised } from './replies.ts';
import { playStream, reportCsv, reportJson } from './reports.ts';
import { scheduleHandlers } from './schedules.ts';
import { statementHandlers } from './statements.ts';
import { webhookHandlers } from './webhooks.ts';

/** Time-out for a client that reads nothing of a backup (docs/protocol.md §5.9). */
const backupStallMs = 5 * minuteMs;
export const codePath = (code: string) => `/v1/devices/provisioning-codes/${code}/status`;

/** Handlers of the management API (docs/protocol.md §4, §5). `stopping` ends long polls. */
export function managementHandlers(
  services: Services,
  stopping: AbortSignal,
  baseUrlOf: BaseUrlOf,
) {
  const longPollReply = makeLongPollReply(stopping);
  const { backups, campaigns, codes, copies, deps, playlists } = services;
  const { coverage, notices, reading, requests, screenStatus, telemetry } = services;
  return {
    ...recordHandlers(services),
    ...configHandlers(services),
    ...statementHandlers(services),
    ...webhookHandlers(services),
    ...scheduleHandlers(services, baseUrlOf),

    async publishPlaylist({ principal, id, body, precondition, request }) {
      const content = withStoredUrls(body, baseUrlOf(request));
      const { playlist, etag } = await playlists.publish(principal, id, content, precondition);
      return { body: playlist, headers: { ETag: etag } };
    },
    publishMany(call) {
      const request = idempotentRequest('publishMany', call);
      const content = withStoredUrls(call.body, baseUrlOf(call.request));
      return result(services.publishMany(call.principal, content, request));
    },
    async readPlaylist({ principal, id }) {
      const { playlist, etag } = await playlists.get(principal, id);
      return { body: playlist, headers: { ETag: etag } };
    },
    withdrawPlaylist: ({ principal, id, precondition }) =>
      done(playlists.withdraw(principal, id, precondition)),
    refreshPlaylist: ({ principal, id }) => result(services.refreshPlaylist(principal, id)),
    listPlaylistVersions: ({ principal, id, query }) =>
      result(playlists.versions(principal, id, query)),

    identifyTvs: ({ principal, body }) => result(services.signals.identify(principal, body)),
    reloadTvs: ({ principal, body }) => result(services.signals.reload(principal, body)),

    async createCode(call) {
      const { principal, body: wanted } = call;
      const request = idempotentRequest('createCode', call);
      const body = await codes.create(principal, wanted, request);
      return { body, headers: { Location: codePath(body.code), ...noStore } };
    },
    getCodeStatus: ({ principal, id, query, request }) =>
      longPollReply(request, query, (signal) =>
        codes.status(principal, id, query.waitSeconds, signal),
      ),
    cancelCode: ({ principal, id }) => done(codes.cancel(principal, id)),

    listMirror: ({ principal, query, slot }) => result(copies.list(principal, query, slot?.signal)),
    repairMirror: ({ principal }) => result(copies.repair(principal)),

    listScreenStatus: ({ principal, query, slot }) =>
      result(screenStatus.list(principal, query, slot?.signal)),
    listEvents: ({ principal, query, request, slot }) =>
      longPollReply(request, query, (signal) => telemetry.list(principal, query, signal, slot)),
    listNotices: ({ principal, query, request, slot }) =>
      longPollReply(request, query, (signal) => notices.list(principal, query, signal, slot)),
    async createBackup({ principal, query, request }) {
      request.outgoing?.setTimeout(backupStallMs);
      const day = new Date(deps.clock.now()).toISOString().slice(0, 10);
      return {
        body: await backups.create(principal, query.withMedia === true),
        type: 'text/plain; charset=utf-8',
        headers: {
          'Content-Disposition': `attachment; filename="signage-${day}.dump"`,
          ...noStore,
        },
      };
    },
    reportImpressions: async ({ principal, query, request }) =>
      reportCsv(
        await reading.impressions(principal, query),
        query.groupBy.length > 1,
        request.context,
      ),
    reportPlays: ({ principal, query, request }) =>
      playStream(reading.plays(principal, query), request.context),
    reportCoverage: async ({ principal, query, slot }) =>
      reportJson(await coverage(principal, query, slot?.signal)),
    listCampaigns: ({ principal, query, slot }) =>
      result(campaigns.list(principal, query, slot?.signal)),
    getCampaign: ({ principal, id }) => revised(revision.campaign, campaigns.get(principal, id)),
    putCampaign: ({ principal, id, body, precondition }) =>
      revised(revision.campaign, campaigns.put(principal, id, body, precondition)),
    deleteCampaign: ({ principal, id, precondition }) =>
      done(campaigns.remove(principal, id, precondition)),
    listAudit: ({ principal, query }) => result(reading.audit(principal, query)),
    listRequests: ({ principal, query }) => result(requests.list(principal, query)),
  } satisfies Partial<Handlers>;
}

function recordHandlers({ tenants, tokens, rotateToken, venues, screens, devices }: Services) {
  return {
    createTenant(call) {
      const request = idempotentRequest('createTenant', call);
      return created(
        'tenants',
        revision.tenant,
        tenants.create(call.principal, call.body, request),
      );
    },
    listTenants: ({ query, slot }) => result(tenants.list(query, slot?.signal)),
    getTenant: ({ principal, id }) => revised(revision.tenant, tenants.get(principal, id)),
    updateTenant: ({ principal, id, body, precondition }) =>
      revised(revision.tenant, tenants.update(principal, id, body, precondition)),
    deleteTenant: ({ principal, id, precondition }) =>
      done(tenants.remove(principal, id, precondition)),

    async createToken(call) {
      const request = idempotentRequest('createToken', call);
      const work = tokens.create(call.principal, call.body, request);
      const reply = await created('tokens', revision.token, work);
      return { ...reply, headers: { ...reply.headers, ...noStore } };
    },
    listTokens: ({ principal, query, slot }) => result(tokens.list(principal, query, slot?.signal)),
    getToken: ({ principal, id }) => revised(revision.token, tokens.get(principal, id)),
    deleteToken: ({ principal, id, precondition }) =>
      done(tokens.remove(principal, id, precondition)),
    rotateToken(call) {
      const request = idempotentRequest('rotateToken', call);
      return revised(revision.token, rotateToken(call.principal, call.id, request));
    },
    getMe: ({ principal }) => result(tokens.me(principal)),

    createVenue(call) {
      const request = idempotentRequest('createVenue', call);
      return created('venues', revision.venue, venues.create(call.principal, call.body, request));
    },
    listVenues: ({ principal, query, slot }) => result(venues.list(principal, query, slot?.signal)),
    getVenue: ({ principal, id }) => revised(revision.venue, venues.get(principal, id)),
    updateVenue: ({ principal, id, body, precondition }) =>
      revised(revision.venue, venues.update(principal, id, body, precondition)),
    deleteVenue: ({ principal, id, precondition }) =>
      done(venues.remove(principal, id, precondition)),

    createScreen(call) {
      const request = idempotentRequest('createScreen', call);
      return created(
        'screens',
        revision.screen,
        screens.create(call.principal, call.body, request),
      );
    },
    listScreens: ({ principal, query, slot }) =>
      result(screens.list(principal, query, slot?.signal)),
    getScreen: ({ principal, id }) => revised(revision.screen, screens.get(principal, id)),
    updateScreen: ({ principal, id, body, precondition }) =>
      revised(revision.screen, screens.update(principal, id, body, precondition)),
    deleteScreen: ({ principal, id, query, precondition }) =>
      done(screens.remove(principal, id, query.force === true, precondition)),

    listDevices: ({ principal, query, slot }) =>
      result(devices.list(principal, query, slot?.signal)),
    getDevice: ({ principal, id }) => result(devices.get(principal, id)),
    revokeDevice: ({ principal, id, body }) =>
      result(devices.revoke(principal, id, body?.reason ?? null)),
  } satisfies Partial<Handlers>;
}

function configHandlers({ configs }: Services) {
  type OwnerCall = Pick<Call<'getScreenConfig'>, 'principal' | 'id' | 'precondition'>;
  const get =
    (level: ConfigLevel) =>
    ({ principal, id }: OwnerCall) =>
      revised(revision.config, configs.get(principal, level, id));
  const put =
    (level: ConfigLevel) =>
    ({ principal, id, body, precondition }: OwnerCall & { body: ConfigBody }) =>
      revised(revision.config, configs.put(principal, level, id, body, precondition));
  const remove =
    (level: ConfigLevel) =>
    ({ principal, id, precondition }: OwnerCall) =>
      done(configs.remove(principal, level, id, precondition));
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
