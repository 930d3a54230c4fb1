import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { forEachBounded } from '../../domain/concurrency.ts';
import { SignageError } from '../../domain/error.ts';
import type { PlayerState } from '../../player/state.ts';

/** The record of a saved fleet, without its TVs. */
export interface SavedFleetRecord {
  format: 1;
  /** The service that the keys belong to: `keptFor`, or the URL of the service. */
  service: string;
  seed: string;
  /**
   * Number of runs so far. Part of `runSeed`, so that idempotency keys of one run do not recur in
   * the next run.
   */
  runs: number;
  /** Screen ids by TV number. Empty if pairing codes were given. */
  screens: string[];
}

const concurrentWrites = 16;
const recordFile = 'fleet.json';
const tvFile = (number: number) => `tv-${String(number + 1).padStart(5, '0')}.json`;

async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new SignageError('invalid_file', `${path} cannot be used: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

/** Replaces a file atomically. Only the owner may read it, because it contains keys. */
async function replaceJson(path: string, value: unknown): Promise<void> {
  await writeFile(`${path}.tmp`, `${JSON.stringify(value)}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.tmp`, path);
}

/** Saves a fleet in a folder from one run to the next. */
export class SavedFleet {
  readonly #folder: string;
  readonly #service: string;

  constructor(folder: string, service: string) {
    this.#folder = folder;
    this.#service = service;
  }

  /**
   * Loads the record of the previous run; `undefined` if there is none. Throws `invalid_file` if
   * the folder belongs to another service, or a newer version saved it.
   */
  async load(): Promise<SavedFleetRecord | undefined> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const record = await readJson<SavedFleetRecord>(join(this.#folder, recordFile));
    if (!record || (record.format === 1 && record.service === this.#service)) return record;
    const reason =
      record.format === 1
        ? `it contains TVs of ${record.service}, not of ${this.#service}`
        : 'it was saved by a newer version';
    throw new SignageError(
      'invalid_file',
      `The fleet in ${this.#folder} cannot be resumed: ${reason}. Use another folder.`,
    );
  }

  /** Loads the saved state of one TV; `undefined` if there is none. */
  loadTv(number: number): Promise<PlayerState | undefined> {
    return readJson<PlayerState>(join(this.#folder, tvFile(number)));
  }

  save(record: Omit<SavedFleetRecord, 'format' | 'service'>): Promise<void> {
    return replaceJson(join(this.#folder, recordFile), {
      format: 1,
      service: this.#service,
      ...record,
    } satisfies SavedFleetRecord);
  }

  async saveTvs(states: readonly (PlayerState | undefined)[]): Promise<void> {
    await forEachBounded(states.entries(), concurrentWrites, async ([number, state]) => {
      if (state) await replaceJson(join(this.#folder, tvFile(number)), state);
    });
  }
}
