import { open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { SignageError } from '../../domain/error.ts';
import type { PlayerMemory, PlayerState } from '../../simulator/player/state.ts';
import type { DeviceInfoInput } from '../../simulator/tv/device-info.ts';
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
    queue: z.array(event),
    batch: z.object({ events: z.array(event).min(1).max(100), idempotencyKey: text }).optional(),
  }),
});

/** Parses a state file. Returns `undefined` if it is damaged. */
function parseSavedTv(json: string): SavedTv | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  // Returns the parsed JSON itself, because a retried batch must have the same bytes. The schema
  // could change the order of members.
  return savedTvSchema.safeParse(value).success ? (value as SavedTv) : undefined;
}

const empty: PlayerState = { format: 1, queue: [] };
const isWindows = process.platform === 'win32';

/**
 * Reads the file. Rejects a file that other users can read, because it contains a key. Skips that
 * check on Windows, which has no file modes.
 */
async function readPrivate(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path);
    if (!isWindows && (mode & 0o077) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(4, '0');
      throw new SignageError(
        'invalid_file',
        `Other users can read the state file ${path} (mode ${shown}).`,
        {
          hint: `chmod 600 ${path}`,
        },
      );
    }
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (error instanceof SignageError) throw error;
    throw new SignageError('invalid_file', `The state file ${path} cannot be read: ${message}.`);
  }
}

async function readSaved(path: string): Promise<SavedTv | undefined> {
  const text = await readPrivate(path);
  if (text === undefined) return undefined;
  const saved = parseSavedTv(text);
  if (saved) return saved;
  throw new SignageError('invalid_file', `The state file ${path} is damaged.`, {
    hint: 'To start as a new TV, delete the file, revoke the old device and use a new code.',
  });
}

async function syncFolder(path: string): Promise<void> {
  if (isWindows) return;
  const folder = await open(dirname(path));
  await folder.sync().finally(() => folder.close());
}

/**
 * Replaces the file atomically and durably: writes a temporary file with mode 0600, syncs it, then
 * renames it.
 */
async function replace(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  // A power failure may have left a temporary file. The lock keeps other processes from using it.
  await unlink(temporary).catch(() => {});
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
  await syncFolder(path);
}

/** The file of `--state`, which keeps a TV across restarts. */
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
   * Opens and locks the file. Throws `state_in_use` if another process has it, and `invalid_file`
   * if it is damaged or readable by others.
   */
  static async open(path: string): Promise<StateFile> {
    const release = await acquireLock(path).catch((error: Error) => {
      throw new SignageError(
        'invalid_file',
        `The state file ${path} cannot be used: ${error.message}.`,
      );
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

  /** Reads the file again, because the user may have repaired it. */
  async load(): Promise<PlayerState | undefined> {
    return (await readSaved(this.#path))?.tv;
  }

  async save(tv: PlayerState): Promise<void> {
    if (!this.#saved) throw new Error('begin() must be called before save().');
    try {
      await replace(this.#path, `${JSON.stringify({ ...this.#saved, tv } satisfies SavedTv)}\n`);
    } catch (error) {
      throw new SignageError(
        'state_not_saved',
        `The state file ${this.#path} cannot be written: ${(error as Error).message}.`,
        {
          cause: error,
        },
      );
    }
  }

  close(): Promise<void> {
    return this.#release();
  }
}
