import { open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SignageError } from '../../domain/error.ts';
import type { PlayerMemory, PlayerState } from '../../simulator/player/state.ts';
import { parseSavedTv, type SavedTv } from './saved-tv.ts';
import { acquireLock, type Release } from './state-lock.ts';

const empty: PlayerState = { format: 1, queue: [] };
const isWindows = process.platform === 'win32';

/** Keys that others on the machine can read are as good as public. Windows keeps no such bits. */
async function readPrivate(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path);
    if (!isWindows && (mode & 0o077) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(4, '0');
      throw new SignageError(
        'invalid_file',
        `The state file ${path} can be read by others on this machine (mode ${shown}).`,
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
    hint: 'Delete it to begin as a new TV, which needs a new code. The key in it is lost then: revoke the device.',
  });
}

async function syncFolder(path: string): Promise<void> {
  if (isWindows) return;
  const folder = await open(dirname(path));
  await folder.sync().finally(() => folder.close());
}

/** Replaces the file in one step, durably: written beside it, for the owner alone from the moment it exists, then moved into its place. */
async function replace(path: string, text: string): Promise<void> {
  const beside = `${path}.new`;
  // What a power hardStop left there; nobody else uses the name while the file is held.
  await unlink(beside).catch(() => {});
  const handle = await open(beside, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(beside, path);
  await syncFolder(path);
}

/** The file that a TV keeps itself in. */
export class StateFile implements PlayerMemory {
  readonly #path: string;
  readonly #release: Release;
  #saved: SavedTv | undefined;

  private constructor(path: string, release: Release, saved: SavedTv | undefined) {
    this.#path = path;
    this.#release = release;
    this.#saved = saved;
  }

  /** Takes the file for this process. Throws `state_in_use` when another has it, and `invalid_file` when it is damaged or open to others. */
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
        `Another signage tv is the TV of ${path}. Stop that one, or name another file.`,
      );
    try {
      return new StateFile(path, release, await readSaved(path));
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** What it held when it was opened, or what was said at the beginning. */
  get saved(): SavedTv | undefined {
    return this.#saved;
  }

  /** Says which service and TV this is, before anything is saved. */
  begin(service: string, deviceInfo: SavedTv['deviceInfo']): void {
    this.#saved = { format: 1, service, deviceInfo, tv: this.#saved?.tv ?? empty };
  }

  /** Looks into the file again: somebody may have mended it. */
  async load(): Promise<PlayerState | undefined> {
    return (await readSaved(this.#path))?.tv;
  }

  async save(tv: PlayerState): Promise<void> {
    if (!this.#saved) throw new Error('A state file must be begun before it is saved.');
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
