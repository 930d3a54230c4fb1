import type { Adapter } from 'lowdb';
import { z } from 'zod';
import type { DeviceInfoInput } from '../../../client/entities.ts';
import { SignageError } from '../../../domain/error.ts';
import type { PlayerMemory, PlayerState } from '../../../player/state.ts';
import { stateFile } from '../../connection/state-file.ts';
import { type FileUse, unusableFile } from '../../input/file-error.ts';
import { acquireLock, type Release } from './state-lock.ts';

/** Content of a state file: the service, the device info and the saved player state. */
export interface SavedTv {
  format: 1;
  service: string;
  deviceInfo: DeviceInfoInput;
  tv: PlayerState;
}

const text = z.string();
const event = z.looseObject({ type: text, timestamp: z.number() });
const config = z.looseObject({
  syncIntervalMinutes: z.number(),
  heartbeatIntervalMinutes: z.number(),
  cachePolicy: z.looseObject({}),
});
const item = z.looseObject({
  creativeId: text,
  creativeUrl: text,
  creativeType: text,
  duration: z.number(),
});
const playlist = z.looseObject({
  id: text,
  version: z.number(),
  validUntil: z.number(),
  items: z.array(item),
});

const savedTvSchema = z.object({
  format: z.literal(1),
  service: z.url(),
  deviceInfo: z.looseObject({}),
  tv: z.object({
    format: z.literal(1),
    registering: z.object({ pairingCode: text, idempotencyKey: text }).optional(),
    binding: z.object({ deviceId: text, screenId: text, tenantId: text, apiKey: text }).optional(),
    rotating: z.object({ idempotencyKey: text }).optional(),
    formerKey: z.object({ apiKey: text, isRefused: z.boolean().optional() }).optional(),
    keySinceMs: z.number().optional(),
    config: config.optional(),
    configTag: text.optional(),
    playlist: z
      .object({ answer: playlist, etag: text.optional(), validUntilMs: z.number() })
      .optional(),
    nextSeq: z.number().nullable().optional(),
    queue: z.array(event),
    queueStart: z.number().optional(),
    batch: z.object({ events: z.array(event).min(1).max(100), idempotencyKey: text }).optional(),
  }),
});

const empty: PlayerState = { format: 1, queue: [] };

const use: FileUse = { what: '--state', code: 'invalid_file' };

const savedTvFile = (path: string) =>
  stateFile<SavedTv>(path, {
    parse(saved) {
      savedTvSchema.parse(saved);
      // Returns the original value. The schema could reorder members, but a retried batch must have
      // the same bytes.
      return saved as SavedTv;
    },
    use,
    remedy: 'To start as a new TV, delete the file, revoke the old device and use a new code.',
    isLocked: true,
  });

/** The file of `--state`, which keeps a TV across restarts. It is replaced at each change. */
export class StateFile implements PlayerMemory {
  readonly #file: Adapter<SavedTv>;
  readonly #release: Release;
  #saved: SavedTv | undefined;

  private constructor(file: Adapter<SavedTv>, release: Release, saved: SavedTv | undefined) {
    this.#file = file;
    this.#release = release;
    this.#saved = saved;
  }

  /**
   * Opens and locks the file. Throws `state_in_use` if it is already locked. Throws `invalid_file`
   * if it is damaged, cannot be read or locked, or is readable by others.
   */
  static async open(path: string): Promise<StateFile> {
    const release = await acquireLock(path).catch((error: unknown) => {
      throw unusableFile(error, path, { ...use, access: 'written' });
    });
    if (!release)
      throw new SignageError(
        'state_in_use',
        `Another signage tv uses ${path}. Stop it, or name another file.`,
      );
    const file = savedTvFile(path);
    try {
      return new StateFile(file, release, (await file.read()) ?? undefined);
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** The saved TV: as read from the file, or as set by `begin`. */
  get saved(): SavedTv | undefined {
    return this.#saved;
  }

  /** Sets the service and the device info. Must be called before `save`. */
  begin(service: string, deviceInfo: SavedTv['deviceInfo']): void {
    this.#saved = { format: 1, service, deviceInfo, tv: this.#saved?.tv ?? empty };
  }

  /** Reads the file on each call: the player compares its key with the saved one. */
  async load(): Promise<PlayerState | undefined> {
    return (await this.#file.read())?.tv;
  }

  async save(tv: PlayerState): Promise<void> {
    if (!this.#saved) throw new Error('begin() must be called before save().');
    try {
      await this.#file.write({ ...this.#saved, tv });
    } catch (cause) {
      throw new SignageError('state_not_saved', (cause as Error).message, { cause });
    }
  }

  close(): Promise<void> {
    return this.#release();
  }
}
