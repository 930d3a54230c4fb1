import { minuteMs } from '../../domain/clock.ts';
import {
  configRevision,
  playlistRevision,
  type RevisedKind,
  recordRevision,
} from '../../domain/etag.ts';
import type { ConfigBody } from '../../domain/records/config.ts';
import type { PlaylistView } from '../../domain/records/playlist.ts';
import type { ConfigLevel } from '../../domain/records/rows.ts';
import type { Services } from '../../service/services.ts';
import type { Call, Handlers } from '../request/pipeline.ts';
import { reportCsv } from './report-csv.ts';

type ManagementHandlers = Omit<
  Handlers,
  'registerDevice' | 'rotateDeviceKey' | 'getPlaylist' | 'getDeviceConfig' | 'postEvents'
>;

/** Time-out for a client that reads nothing of a backup (docs/protocol.md §5.9). */
const backupStallMs = 5 * minuteMs;

const createdAt = (path: string) => ({ Location: path });
const codePath = (code: string) => `/v1/devices/provisioning-codes/${code}/status`;

/**
 * Calls `work` with a signal that aborts with any of these. Not `AbortSignal.any`: in Node 20, each
 * call leaks memory on the longest-lived signal.
 */
async function withSignal<T>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const combined = new AbortController();
  const end = () => combined.abort();
  for (const signal of signals) signal.addEventListener('abort', end);
  if (signals.some((signal) => signal.aborted)) end();
  try {
    return await work(combined.signal);
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', end);
  }
}

/** Handlers of the management API (docs/protocol.md §4, §5). `stopping` ends long polls. */
export function managementHandlers(services: Services, stopping: AbortSignal): ManagementHandlers {
  const longPoll = <T>(
    context: { req: { raw: Request } },
    work: (signal: AbortSignal) => Promise<T>,
  ) => withSignal([stopping, context.req.raw.signal], work);
  return {
    ...recordHandlers(services),
    ...playlistHandlers(services),
    ...configHandlers(services),

    async createCode({ caller, body }) {
      const code = await services.codes.create(caller, body.screenId);
      return {
        body: code,
        headers: { ...createdAt(codePath(code.code)), 'Cache-Control': 'no-store' },
      };
    },
    async getCodeStatus({ caller, id, query, context }) {
      return {
        body: await longPoll(context, (signal) =>
          services.codes.status(caller, id, query.waitSeconds, signal),
        ),
      };
    },
    async cancelCode({ caller, id }) {
      await services.codes.cancel(caller, id);
      return {};
    },

    listMirror: async ({ caller, query }) => ({ body: await services.copies.list(caller, query) }),
    repairMirror: async ({ caller }) => ({ body: await services.copies.repair(caller) }),

    async listEvents({ caller, query, context, slot }) {
      return {
        body: await longPoll(context, (signal) =>
          services.telemetry.list(caller, query, signal, slot),
        ),
      };
    },
    async createBackup({ caller, context }) {
      context.env?.outgoing?.setTimeout(backupStallMs);
      const day = new Date(services.deps.clock.now()).toISOString().slice(0, 10);
      return {
        body: await services.backups.create(caller),
        headers: {
          'Content-Type': 'application/x-tar',
          'Content-Disposition': `attachment; filename="signage-${day}.tar"`,
          'Cache-Control': 'no-store',
        },
      };
    },
    async reportImpressions({ caller, query, context }) {
      return reportCsv(await services.reading.impressions(caller, query), context);
    },
    async listAudit({ caller, query }) {
      return { body: await services.reading.audit(caller, query) };
    },
  };
}

type RecordHandlers = Pick<
  ManagementHandlers,
  | `${'create' | 'get' | 'delete'}${'Tenant' | 'Token' | 'Venue' | 'Screen'}`
  | `update${'Tenant' | 'Venue' | 'Screen'}`
  | `list${'Tenants' | 'Tokens' | 'Venues' | 'Screens' | 'Devices'}`
  | 'getMe'
  | 'getDevice'
  | 'revokeDevice'
>;

function recordHandlers({ tenants, tokens, venues, screens, devices }: Services): RecordHandlers {
  const revised = <R extends { id: string }>(kind: RevisedKind, record: R) => ({
    body: record,
    headers: { ETag: recordRevision(kind, record) },
  });
  const created = <R extends { id: string }>(kind: RevisedKind, record: R) => {
    const { body, headers } = revised(kind, record);
    return { body, headers: { ...headers, ...createdAt(`/v1/${kind}s/${record.id}`) } };
  };
  const noBody = () => ({});
  return {
    createTenant: async ({ caller, body }) => created('tenant', await tenants.create(caller, body)),
    listTenants: async ({ query }) => ({ body: await tenants.list(query) }),
    getTenant: async ({ caller, id }) => revised('tenant', await tenants.get(caller, id)),
    updateTenant: async ({ caller, id, body, precondition }) =>
      revised('tenant', await tenants.update(caller, id, body, precondition)),
    deleteTenant: ({ caller, id, precondition }) =>
      tenants.remove(caller, id, precondition).then(noBody),

    async createToken({ caller, body }) {
      const { headers, ...reply } = created('token', await tokens.create(caller, body));
      return { ...reply, headers: { ...headers, 'Cache-Control': 'no-store' } };
    },
    listTokens: async ({ caller, query }) => ({ body: await tokens.list(caller, query) }),
    getToken: async ({ caller, id }) => revised('token', await tokens.get(caller, id)),
    deleteToken: ({ caller, id, precondition }) =>
      tokens.remove(caller, id, precondition).then(noBody),
    getMe: async ({ caller }) => ({ body: await tokens.me(caller) }),

    createVenue: async ({ caller, body }) => created('venue', await venues.create(caller, body)),
    listVenues: async ({ caller, query }) => ({ body: await venues.list(caller, query) }),
    getVenue: async ({ caller, id }) => revised('venue', await venues.get(caller, id)),
    updateVenue: async ({ caller, id, body, precondition }) =>
      revised('venue', await venues.update(caller, id, body, precondition)),
    deleteVenue: ({ caller, id, precondition }) =>
      venues.remove(caller, id, precondition).then(noBody),

    createScreen: async ({ caller, body }) => created('screen', await screens.create(caller, body)),
    listScreens: async ({ caller, query }) => ({ body: await screens.list(caller, query) }),
    getScreen: async ({ caller, id }) => revised('screen', await screens.get(caller, id)),
    updateScreen: async ({ caller, id, body, precondition }) =>
      revised('screen', await screens.update(caller, id, body, precondition)),
    deleteScreen: ({ caller, id, query, precondition }) =>
      screens.remove(caller, id, query.force === true, precondition).then(noBody),

    listDevices: async ({ caller, query }) => ({ body: await devices.list(caller, query) }),
    getDevice: async ({ caller, id }) => ({ body: await devices.get(caller, id) }),
    revokeDevice: async ({ caller, id, body }) => ({
      body: await devices.revoke(caller, id, body?.reason ?? null),
    }),
  };
}

type PlaylistHandlers = Pick<
  ManagementHandlers,
  'publishPlaylist' | 'readPlaylist' | 'withdrawPlaylist' | 'listPlaylistVersions'
>;

function playlistHandlers({ playlists }: Services): PlaylistHandlers {
  const revised = (playlist: PlaylistView) => ({
    body: playlist,
    headers: { ETag: playlistRevision(playlist.id, playlist.version) },
  });
  return {
    publishPlaylist: async ({ caller, id, body, precondition }) =>
      revised(await playlists.publish(caller, id, body, precondition)),
    readPlaylist: async ({ caller, id }) => revised(await playlists.get(caller, id)),
    withdrawPlaylist: ({ caller, id, precondition }) =>
      playlists.withdraw(caller, id, precondition).then(() => ({})),
    listPlaylistVersions: async ({ caller, id, query }) => ({
      body: await playlists.versions(caller, id, query),
    }),
  };
}

type ConfigHandlers = Pick<
  ManagementHandlers,
  `${'get' | 'put' | 'delete'}${'Screen' | 'Venue' | 'Tenant'}Config`
>;

function configHandlers({ configs }: Services): ConfigHandlers {
  type OwnerCall = Pick<Call<'getScreenConfig'>, 'caller' | 'id' | 'precondition'>;
  const revised = (config: ConfigBody) => ({
    body: config,
    headers: { ETag: configRevision(config) },
  });
  const get =
    (level: ConfigLevel) =>
    async ({ caller, id }: OwnerCall) =>
      revised(await configs.get(caller, level, id));
  const put =
    (level: ConfigLevel) =>
    async ({ caller, id, body, precondition }: OwnerCall & { body: ConfigBody }) =>
      revised(await configs.put(caller, level, id, body, precondition));
  const remove =
    (level: ConfigLevel) =>
    ({ caller, id, precondition }: OwnerCall) =>
      configs.remove(caller, level, id, precondition).then(() => ({}));
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
  };
}
