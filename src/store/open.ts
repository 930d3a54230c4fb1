import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { type Clock, type Random, secondMs, systemClock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { refuseUnfinished } from './json/copy/copy-marker.ts';
import { type FileSystem, nodeFileSystem } from './json/disk/file-system.ts';
import { makeMemoryFileSystem } from './json/disk/memory-file-system.ts';
import { lockFolder } from './json/lock/folder-lock.ts';
import { openJsonStore } from './json/open.ts';
import type { PartContext } from './json/parts.ts';
import type { Store } from './store.ts';

/** How a database is used by one instance. */
export interface DatabaseOptions {
  /** Connections, beside one that listens for changes: 2 to 200, 10 unless said. */
  poolSize?: number;
  /** The longest that one statement may take: 1 to 600, 10 unless said. */
  statementTimeoutSeconds?: number;
  /** The longest that one may wait for another instance's change: 1 to 600, 5 unless said. */
  lockTimeoutSeconds?: number;
}

export interface OpenStoreOptions {
  /** Where time comes from. A database has its own, which all instances share: there, only a clock that is not the machine's counts. */
  clock?: Clock;
  database?: DatabaseOptions | undefined;
  random?: Random;
  /** The disk under a data folder. Given with `memory:`, the store is kept there, unlocked, and opens again from it. */
  disk?: FileSystem;
  /** Told what deserves a line in the log: a checkpoint that failed and is tried again, a torn record that was cut off. */
  onWarning?: (message: string, cause?: unknown) => void;
}

/** Below this a store refuses to write, so that there is room left to put things right. */
const lowWaterBytes = 16 * 1024 * 1024;

/**
 * Opens a store: a data folder, made when there is none; `memory:`, which is the same without files; or a PostgreSQL database by its URL,
 * `postgres://user:password@host:5432/database?sslmode=verify-full`.
 *
 * Throws `SignageError`s that say what to do: `store_locked`, `store_damaged`, `store_too_new`, `store_unusable`, `copy_unfinished`,
 * `restore_unfinished`, `invalid_option`.
 *
 * @example
 * const store = await openStore('./data');
 * await store.write(async (tx) => tx.put('tenants', { id, name: 'default', createdAt: tx.now, updatedAt: tx.now }));
 * await store.close();
 */
export async function openStore(location: string, options: OpenStoreOptions = {}): Promise<Store> {
  const { clock = systemClock, random = randomBytes, onWarning = () => {} } = options;
  const common = { clock, lowWaterBytes, warn: onWarning };
  if (location === 'memory:') {
    return openJsonStore(
      { ...common, disk: options.disk ?? makeMemoryFileSystem(), directory: 'memory:' },
      random,
      async () => {},
    );
  }
  if (/^postgres(ql)?:/i.test(location)) {
    const { openPostgresStore } = await import('./postgres/open.ts');
    const own = clock === systemClock ? undefined : clock;
    return openPostgresStore(location, {
      clock: own,
      random,
      warn: onWarning,
      ...databaseLimits(options.database),
    });
  }
  if (/^[a-z][a-z0-9+]+:/i.test(location)) {
    throw new SignageError(
      'not_supported',
      `${location.split(':')[0]}: is no kind of store: name a folder, memory:, or postgres://….`,
    );
  }
  return openFolder(
    { ...common, disk: options.disk ?? nodeFileSystem, directory: resolve(location) },
    random,
  );
}

function databaseLimits({
  poolSize = 10,
  statementTimeoutSeconds = 10,
  lockTimeoutSeconds = 5,
}: DatabaseOptions = {}) {
  const statementTimeoutMs =
    inRange('The statement time-out in seconds', statementTimeoutSeconds, 1, 600) * secondMs;
  const lockTimeoutMs =
    inRange('The lock time-out in seconds', lockTimeoutSeconds, 1, 600) * secondMs;
  return {
    poolSize: inRange('The number of database connections', poolSize, 2, 200),
    statementTimeoutMs,
    lockTimeoutMs,
  };
}

function inRange(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new SignageError('invalid_option', `${name} must be a whole number from ${min} to ${max}.`);
}

async function openFolder(context: PartContext, random: Random): Promise<Store> {
  const { disk, directory, clock } = context;
  let release = async () => {};
  try {
    await disk.makeDirectory(directory);
    release = await lockFolder(directory, { clock, random, platform: process.platform });
    await refuseUnfinished(disk, directory);
    return await openJsonStore(context, random, release);
  } catch (error) {
    await release();
    if (error instanceof SignageError) throw error;
    const { message } = error as Error;
    throw new SignageError(
      'store_unusable',
      `${directory} cannot be used as a data folder: ${message}`,
      { cause: error },
    );
  }
}
