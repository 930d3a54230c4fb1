import { minuteMs } from '../../domain/clock.ts';
import type { ConfigBody } from '../../domain/records/config.ts';
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
  const created = <R extends { id: string }>(path: string, record: R) => ({
    body: record,
    headers: createdAt(`${path}/${record.id}`),
  });
  const noBody = () => ({});
  return {
    createTenant: async ({ caller, body }) =>
      created('/v1/tenants', await tenants.create(caller, body)),
    listTenants: async ({ query }) => ({ body: await tenants.list(query) }),
    getTenant: async ({ caller, id }) => ({ body: await tenants.get(caller, id) }),
    updateTenant: async ({ caller, id, body }) => ({
      body: await tenants.update(caller, id, body),
    }),
    deleteTenant: ({ caller, id }) => tenants.remove(caller, id).then(noBody),

    async createToken({ caller, body }) {
      const { headers, ...reply } = created('/v1/tokens', await tokens.create(caller, body));
      return { ...reply, headers: { ...headers, 'Cache-Control': 'no-store' } };
    },
    listTokens: async ({ caller, query }) => ({ body: await tokens.list(caller, query) }),
    getToken: async ({ caller, id }) => ({ body: await tokens.get(caller, id) }),
    deleteToken: ({ caller, id }) => tokens.remove(caller, id).then(noBody),
    getMe: async ({ caller }) => ({ body: await tokens.me(caller) }),

    createVenue: async ({ caller, body }) =>
      created('/v1/venues', await venues.create(caller, body)),
    listVenues: async ({ caller, query }) => ({ body: await venues.list(caller, query) }),
    getVenue: async ({ caller, id }) => ({ body: await venues.get(caller, id) }),
    updateVenue: async ({ caller, id, body }) => ({ body: await venues.update(caller, id, body) }),
    deleteVenue: ({ caller, id }) => venues.remove(caller, id).then(noBody),

    createScreen: async ({ caller, body }) =>
      created('/v1/screens', await screens.create(caller, body)),
    listScreens: async ({ caller, query }) => ({ body: await screens.list(caller, query) }),
    getScreen: async ({ caller, id }) => ({ body: await screens.get(caller, id) }),
    updateScreen: async ({ caller, id, body }) => ({
      body: await screens.update(caller, id, body),
    }),
    deleteScreen: ({ caller, id, query }) =>
      screens.remove(caller, id, query.force === true).then(noBody),

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
  return {
    publishPlaylist: async ({ caller, id, body }) => ({
      body: await playlists.publish(caller, id, body),
    }),
    readPlaylist: async ({ caller, id }) => ({ body: await playlists.get(caller, id) }),
    withdrawPlaylist: ({ caller, id }) => playlists.withdraw(caller, id).then(() => ({})),
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
  type OwnerCall = Pick<Call<'getScreenConfig'>, 'caller' | 'id'>;
  const get =
    (level: ConfigLevel) =>
    async ({ caller, id }: OwnerCall) => ({ body: await configs.get(caller, level, id) });
  const put =
    (level: ConfigLevel) =>
    async ({ caller, id, body }: OwnerCall & { body: ConfigBody }) => ({
      body: await configs.put(caller, level, id, body),
    });
  const remove =
    (level: ConfigLevel) =>
    ({ caller, id }: OwnerCall) =>
      configs.remove(caller, level, id).then(() => ({}));
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
