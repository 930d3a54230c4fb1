import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { ManagementClient } from '../../client/management-client.ts';
import type { MakeRequester } from '../../client/requester.ts';
import { makeKey } from '../../domain/api-key.ts';
import type { Clock, Random } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import { type Running, serve } from '../../serve.ts';

/** Base URL of requests within this process. */
const inProcessUrl = 'http://signage.invalid';
/** Lifetime of a pairing code, in minutes: the maximum, because a person must enter the code. */
const codeTtlMinutes = 60;
/** Duration of each item in seconds. */
export const itemSeconds = 5;
/** Duration of the only item of a `long` edition, in seconds. The exam always cuts it. */
const longItemSeconds = 600;

/** Configs and items have a member that no TV knows. A TV must ignore it (docs/protocol.md §9). */
const unknownMember = { exam: { isUnknown: true } };

/** How an edition of the playlist differs from three images of 5 seconds without an end. */
export interface Edition {
  /** Whether the edition has only one item, of 10 minutes. */
  isLong?: boolean;
  /** Default: in 30 days. In Unix epoch seconds. */
  validUntil?: number;
}

/** The images of the playlist. */
const media = ['darkred', 'darkgreen', 'darkblue'].map((color) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 9"><rect width="16" height="9" fill="${color}"/></svg>`,
  ),
);
export const campaignId = 'ca000000-0000-4000-8000-000000000001';
const playlistValidDays = 30;

/** Returns the id of an item. Each edition of the playlist has its own ids. */
const creativeIdOf = (edition: number, index: number): string =>
  `c0000000-0000-4000-8000-${String(edition).padStart(4, '0')}${String(index).padStart(8, '0')}`;

/**
 * Returns the edition and index of the item with this id, or `undefined` if the exam has no such
 * item.
 */
export function itemOf(
  creativeId: string | undefined,
): { edition: number; index: number } | undefined {
  const [, edition, index] =
    /^c0000000-0000-4000-8000-(\d{4})(\d{8})$/.exec(creativeId ?? '') ?? [];
  if (edition === undefined || Number(index) >= media.length) return undefined;
  return { edition: Number(edition), index: Number(index) };
}

/** The entries of the exam's schedule, with the editions that they play. */
export const entryEditions = { first: 9001, second: 9002 } as const;
/** Returns the id of an entry, as TVs get it. */
export const entryIdOf = (entry: keyof typeof entryEditions) => `exam-${entry}`;
/** Time after which the last entry of the schedule ends, in seconds. */
const lastEntrySeconds = 3600;

/** Number of items in each edition of the playlist. */
export const itemCount = media.length;

/** Returns a function that passes requests of a `ManagementClient` to a service in this process. */
function requesterOf(service: Pick<Running, 'fetch'>): MakeRequester {
  return async () => async (url, parts) => {
    const response = await service.fetch(new Request(url, parts), { remoteAddress: '127.0.0.1' });
    const body = Readable.from([Buffer.from(await response.arrayBuffer())]);
    return { statusCode: response.status, headers: Object.fromEntries(response.headers), body };
  };
}

/** Uploads an image. Returns its path. */
async function upload(
  service: Pick<Running, 'fetch'>,
  token: string,
  file: Buffer,
): Promise<string> {
  const response = await service.fetch(
    new Request(`${inProcessUrl}/v1/media/${hash('sha256', file)}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-length': String(file.length) },
      body: new Uint8Array(file),
    }),
  );
  return ((await response.json()) as { url: string }).url;
}

/** The service that the TV connects to, with one screen. */
export class ExamService {
  readonly running: Running;
  readonly #management: ManagementClient;
  readonly #screenId: string;
  readonly #mediaPaths: readonly string[];
  readonly #clock: Clock;

  private constructor(
    running: Running,
    management: ManagementClient,
    screenId: string,
    mediaPaths: readonly string[],
    clock: Clock,
  ) {
    this.running = running;
    this.#management = management;
    this.#screenId = screenId;
    this.#mediaPaths = mediaPaths;
    this.#clock = clock;
  }

  /** Starts the service. Finds or creates the screen of the TV. `store` is as in `serve`. */
  static async start(store: string, { clock, random }: { clock: Clock; random: Random }) {
    const adminToken = makeKey('mak_', random);
    const fixed = { listen: false, codeTtlMinutes, corsOrigins: ['*'] };
    const running = await serve({ ...fixed, store, adminToken, clock, random });
    try {
      const mediaPaths = await Promise.all(media.map((file) => upload(running, adminToken, file)));
      const management = new ManagementClient({
        url: inProcessUrl,
        token: adminToken,
        makeRequester: requesterOf(running),
        clock,
        random,
      });
      const screenId = await findOrCreateScreen(management);
      return new ExamService(running, management, screenId, mediaPaths, clock);
    } catch (error) {
      await running.close();
      throw error;
    }
  }

  /** Creates a pairing code for the screen. Revokes the screen's current device. */
  async createCode(): Promise<string> {
    await this.revoke();
    return (await this.#management.call('createCode', { body: { screenId: this.#screenId } })).code;
  }

  /** Revokes the screen's current device, if any. */
  async revoke(): Promise<void> {
    const query = { screenId: this.#screenId, state: 'bound' as const };
    for await (const { id } of this.#management.all('listDevices', { query }))
      await this.#management.call('revokeDevice', { params: { id }, body: {} });
  }

  async setConfig(config: { syncIntervalMinutes: number; heartbeatIntervalMinutes: number }) {
    const params = { id: this.#screenId };
    await this.#management.call('putScreenConfig', {
      params,
      body: { ...config, ...unknownMember },
    });
  }

  /** Publishes an edition of the playlist. */
  async publish(edition: number, { isLong, validUntil: ends }: Edition): Promise<void> {
    const all = this.#itemsOf(edition);
    const long = all.slice(0, 1).map((item) => ({ ...item, duration: longItemSeconds }));
    const items = isLong ? long : all;
    const validUntil = ends ?? Math.floor(this.#clock.now() / 1000) + playlistValidDays * 86_400;
    const params = { id: this.#screenId };
    await this.#management.call('publishPlaylist', { params, body: { items, validUntil } });
  }

  /** Sets a schedule with two entries, from these times on in Unix epoch seconds. */
  async setSchedule(firstAt: number, secondAt: number): Promise<void> {
    const entryOf = (entry: keyof typeof entryEditions, at: number, until: number) => {
      return { name: entryIdOf(entry), at, until, items: this.#itemsOf(entryEditions[entry]) };
    };
    const entries = [
      entryOf('first', firstAt, secondAt),
      entryOf('second', secondAt, secondAt + lastEntrySeconds),
    ];
    const params = { id: this.#screenId };
    await this.#management.call('putScreenSchedule', { params, body: { entries } });
  }

  async clearSchedule(): Promise<void> {
    const call = this.#management.call('deleteScreenSchedule', { params: { id: this.#screenId } });
    await call.catch((error) => {
      if (!hasCode(error, 'schedule_not_found')) throw error;
    });
  }

  #itemsOf(edition: number) {
    return this.#mediaPaths.map((creativeUrl, index) => ({
      creativeId: creativeIdOf(edition, index),
      creativeUrl,
      creativeType: 'image' as const,
      duration: itemSeconds,
      campaignId,
      ...unknownMember,
    }));
  }

  async withdraw(): Promise<void> {
    const call = this.#management.call('withdrawPlaylist', { params: { id: this.#screenId } });
    await call.catch((error) => {
      if (!hasCode(error, 'playlist_not_found')) throw error;
    });
  }

  close(): Promise<void> {
    return this.running.close();
  }
}

const venueName = 'TV exam';

async function findOrCreateScreen(management: ManagementClient): Promise<string> {
  for await (const venue of management.all('listVenues'))
    if (venue.name === venueName)
      for await (const { id } of management.all('listScreens', { query: { venueId: venue.id } }))
        return id;
  const venue = await management.call('createVenue', { body: { name: venueName } });
  const body = { venueId: venue.id, name: 'TV' };
  return (await management.call('createScreen', { body })).id;
}
