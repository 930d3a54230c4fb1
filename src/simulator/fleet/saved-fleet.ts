import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SignageError } from '../../domain/error.ts';
import type { PlayerState } from '../player/state.ts';
import { forEachBounded } from '../time/bounded.ts';

/** What a folder knows of a fleet besides its TVs. */
export interface SavedFleetRecord {
  format: 1;
  /** What the keys are for: the service's address, unless something else says it better. */
  service: string;
  seed: string;
  /** How many runs there were: each has chances of its own, lest keys of one come again in the next. */
  runs: number;
  /** The screens by the numbers of the TVs; none where codes were given. */
  screens: string[];
}

const filesAtOnce = 16;
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

/** Whole or not at all, and for its owner only: there are keys in it. */
async function replaceJson(path: string, value: unknown): Promise<void> {
  await writeFile(`${path}.tmp`, `${JSON.stringify(value)}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.tmp`, path);
}

/** A folder that keeps a fleet from one run to the next. */
export class SavedFleet {
  readonly #folder: string;
  readonly #service: string;

  constructor(folder: string, service: string) {
    this.#folder = folder;
    this.#service = service;
  }

  /** What the last run left; `undefined` when there was none. Throws `invalid_file` when the folder is of another service. */
  async load(): Promise<SavedFleetRecord | undefined> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const record = await readJson<SavedFleetRecord>(join(this.#folder, recordFile));
    if (!record || (record.format === 1 && record.service === this.#service)) return record;
    const why =
      record.format === 1
        ? `it keeps TVs of ${record.service}, not of ${this.#service}`
        : 'it is of a newer version';
    throw new SignageError(
      'invalid_file',
      `The fleet in ${this.#folder} cannot go on: ${why}. Name another folder.`,
    );
  }

  /** What one TV had saved. */
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
    await forEachBounded(states.entries(), filesAtOnce, async ([number, state]) => {
      if (state) await replaceJson(join(this.#folder, tvFile(number)), state);
    });
  }
}
