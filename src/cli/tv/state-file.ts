import { rm } from 'node:fs/promises';
import { z } from 'zod';
import type { DeviceInfoInput } from '../../client/entities.ts';
import { SignageError } from '../../domain/error.ts';
import type { PlayerMemory, PlayerState } from '../../player/state.ts';
import { readPrivateFile, replaceFile } from '../api/private-file.ts';
import { fileProblem } from '../options/file-error.ts';
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

/** Parses a state file. Returns `undefined` if it is damaged. */
function parseSavedTv(text: string): SavedTv | undefined {
  try {
    const saved: unknown = JSON.parse(text);
    savedTvSchema.parse(saved);
    // Returns the original value. The schema could reorder members, but a retried batch must have
    // the same bytes.
    return saved as SavedTv;
  } catch {
    return undefined;
  }
}

const empty: PlayerState = { format: 1, queue: [] };

async function readSaved(path: string): Promise<SavedTv | undefined> {
  const text = await readPrivateFile(path, 'invalid_file').catch((error: unknown) => {
    if (error instanceof SignageError) throw error;
    throw new SignageError('invalid_file', `${fileProblem(error, path)} (--state).`);
  });
  if (text === undefined) return undefined;
  const saved = parseSavedTv(text);
  if (saved) return saved;
  throw new SignageError('invalid_file', `The state file ${path} is damaged.`, {
    hint: 'To start as a new TV, delete the file, revoke the old device and use a new code.',
  });
}

/** Replaces the file. The lock keeps other processes from using the temporary file. */
async function replace(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  // A power failure may have left a temporary file.
  await rm(temporary, { force: true });
  await replaceFile(path, text, { temporary });
}

/** The file of `--state`, which keeps a TV across restarts. It is replaced at each change. */
export class StateFile implements PlayerMemory {
  readonly #path: string;
  readonly #release: Release;
  #saved: SavedTv | undefined;

  private constructor(path: string, release: Release, saved: SavedTv | undefined) {
    this.#path = path;
    this.#release = release;
    this.#saved = saved;
  }

  /**
   * Opens and locks the file. Throws `state_in_use` if it is already locked. Throws `invalid_file`
   * if it is damaged, cannot be read or locked, or is readable by others.
   */
  static async open(path: string): Promise<StateFile> {
    const release = await acquireLock(path).catch((error: unknown) => {
      const problem = fileProblem(error, path, 'written');
      throw new SignageError('invalid_file', `${problem} (--state).`);
    });
    if (!release)
      throw new SignageError(
        'state_in_use',
        `Another signage tv uses ${path}. Stop it, or name another file.`,
      );
    try {
      return new StateFile(path, release, await readSaved(path));
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
    return (await readSaved(this.#path))?.tv;
  }

  async save(tv: PlayerState): Promise<void> {
    if (!this.#saved) throw new Error('begin() must be called before save().');
    const text = `${JSON.stringify({ ...this.#saved, tv } satisfies SavedTv)}\n`;
    try {
      await replace(this.#path, text);
    } catch (error) {
      throw new SignageError(
        'state_not_saved',
        `${fileProblem(error, this.#path, 'written')} (--state).`,
        { cause: error },
      );
    }
  }

  close(): Promise<void> {
    return this.#release();
  }
}
