import { randomBytes } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Clock, type Random, secondMs, systemClock } from '../../domain/clock.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import { shellQuote } from '../../domain/file-access.ts';
import { checkArgument, checkOptions, type OptionRules } from '../../options/check-options.ts';
import {
  callable,
  clockShape,
  settings,
  storeLocation,
  text,
  whole,
  withFunctions,
} from '../../options/shapes.ts';
import { accessHint } from '../json/disk/access-hint.ts';
import { type FileSystem, nodeFileSystem } from '../json/disk/file-system.ts';
import { makeMemoryFileSystem } from '../json/disk/memory-file-system.ts';
import type { PartContext } from '../json/disk/parts.ts';
import { lockFolder } from '../json/lock/folder-lock.ts';
import { makeGuardedDisk } from '../json/lock/guarded-disk.ts';
import { openJsonStore } from '../json/open.ts';
import { asUnusable, refuseUnfinished } from '../maintenance/data-folder.ts';
import type { Store } from '../store.ts';

/** Settings for the database connections of one instance. */
export interface DatabaseOptions {
  /** Connections in the pool, 2 to 200. One more connection listens for changes. Default: 10. */
  poolSize?: number;
  /** Maximum duration of one statement, 1 to 600. Default: 10. */
  statementTimeoutSeconds?: number;
  /** Maximum time to wait for a change of another instance, 1 to 600. Default: 5. */
  lockTimeoutSeconds?: number;
}

export interface OpenStoreOptions {
  /**
   * Source of time. With `systemClock`, a database store uses the clock of the database, which all
   * instances share. It uses any other clock as given.
   */
  clock?: Clock;
  database?: DatabaseOptions | undefined;
  random?: Random;
  /**
   * File system of the data folder. Default: the file system of the operating system. With
   * `memory:`, the store uses this file system without a lock, and can be reopened from it.
   */
  disk?: FileSystem;
  /**
   * Receives warnings for the log, such as a failed checkpoint that will be retried or a torn
   * record that was cut off.
   */
  onWarning?: (message: string, cause?: unknown) => void;
  /** Called when the database becomes unreachable, with the reason, and when it answers again. */
  onReachable?: ((isReachable: boolean, reason?: unknown) => void) | undefined;
  /**
   * Called once when the store can accept no more changes until it is opened again, with the
   * reason: its data folder was moved away, deleted or replaced.
   */
  onFailure?: ((reason: Error) => void) | undefined;
}

/** Ranges of `DatabaseOptions`. */
export const databaseSettings = settings({
  poolSize: whole(2, 200),
  statementTimeoutSeconds: whole(1, 600),
  lockTimeoutSeconds: whole(1, 600),
});

const openStoreRules: OptionRules<OpenStoreOptions> = {
  of: 'openStore',
  shapes: {
    clock: clockShape,
    database: databaseSettings,
    random: callable,
    disk: withFunctions('create', 'makeDirectory'),
    onWarning: callable,
    onReachable: callable,
    onFailure: callable,
  },
};

/** Whether a location is a folder, that is, neither `memory:` nor a URL. */
export function isFolder(location: string): boolean {
  return !/^[a-z][a-z0-9+]+:/i.test(location);
}

/**
 * Minimum free space for writes, in bytes. A store with less refuses writes, to leave room for
 * recovery.
 */
const lowWaterBytes = 16 * 1024 * 1024;

/**
 * Opens a store. `location` is a data folder, which is created if missing; `memory:`, the same
 * store without files; or the URL of a PostgreSQL database,
 * `postgres://user:password@host:5432/database?sslmode=verify-full`.
 *
 * Throws a `SignageError` whose message says what to do: `store_locked`, `store_damaged`,
 * `store_other_format`, `store_unusable`, `restore_unfinished`,
 * `invalid_option`, `not_supported`.
 *
 * @example
 * const store = await openStore('./data');
 * await store.write(async (tx) => {
 *   const row = { id, name: 'default', createdAt: tx.now, updatedAt: tx.now };
 *   await tx.put('tenants', row);
 * });
 * await store.close();
 */
export async function openStore(location: string, options: OpenStoreOptions = {}): Promise<Store> {
  checkArgument('openStore', 'location', storeLocation(text), location);
  checkOptions(openStoreRules, options);
  const { clock = systemClock, random = randomBytes, onWarning = () => {} } = options;
  const shared = { clock, lowWaterBytes, warn: onWarning };
  if (location === 'memory:') {
    return openJsonStore(
      { ...shared, disk: options.disk ?? makeMemoryFileSystem(), directory: 'memory:' },
      random,
      async () => {},
    );
  }
  if (/^postgres(ql)?:/i.test(location)) {
    const { openPostgresStore } = await import('../postgres/open.ts');
    const customClock = clock === systemClock ? undefined : clock;
    return openPostgresStore(location, {
      clock: customClock,
      random,
      warn: onWarning,
      onReachable: options.onReachable,
      ...databaseLimits(options.database),
    });
  }
  if (!isFolder(location)) {
    throw new SignageError(
      'not_supported',
      `${location.split(':')[0]}: is not a supported store. Use a folder, memory:, or postgres://….`,
    );
  }
  return openFolder(
    { ...shared, disk: options.disk ?? nodeFileSystem, directory: resolve(location) },
    random,
    options.onFailure ?? (() => {}),
  );
}

function databaseLimits({
  poolSize = 10,
  statementTimeoutSeconds = 10,
  lockTimeoutSeconds = 5,
}: DatabaseOptions = {}) {
  return {
    poolSize,
    statementTimeoutMs: statementTimeoutSeconds * secondMs,
    lockTimeoutMs: lockTimeoutSeconds * secondMs,
  };
}

async function openFolder(
  context: PartContext,
  random: Random,
  onFailure: (reason: Error) => void,
): Promise<Store> {
  const { disk, directory, clock } = context;
  let release = async () => {};
  try {
    await disk.makeDirectory(directory);
    await refuseNetworkFileSystem(directory);
    release = await lockFolder(directory, { clock, random, platform: process.platform });
    await refuseUnfinished(disk, directory);
    const guarded = await makeGuardedDisk(disk, directory, onFailure);
    return await openJsonStore({ ...context, disk: guarded }, random, release);
  } catch (error) {
    await release();
    throw asUnusable(
      withRemedy(error, directory),
      `${directory} cannot be used as a data folder`,
      await accessHint(error as NodeJS.ErrnoException, directory),
    );
  }
}

/** Network file systems by `f_type` of statfs(2). */
const networkFileSystems = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x00c36400, 'CephFS'],
  [0x0bd00bd0, 'Lustre'],
]);

/**
 * Throws `store_unusable` for a folder on a network file system. The lock of the folder is a
 * socket, which other machines do not see, so a second machine could open the folder. Detects
 * network file systems only on Linux, and does not detect those in user space, such as sshfs.
 */
async function refuseNetworkFileSystem(directory: string): Promise<void> {
  if (process.platform !== 'linux') return;
  const name = networkFileSystems.get((await statfs(directory)).type);
  if (name === undefined) return;
  throw new SignageError(
    'store_unusable',
    `${directory} is on a network file system (${name}): a second machine could open it as well, and damage the data. Use a folder on a local disk, or PostgreSQL.`,
  );
}

/** Adds the next step, which needs the name of the folder, to an error about damage. */
function withRemedy(error: unknown, directory: string): unknown {
  if (!hasCode(error, 'store_damaged')) return error;
  const folder = shellQuote(directory);
  return new SignageError(
    error.code,
    `${error.message} Run \`signage data check ${folder}\` for details. Then restore a backup, or save the readable data with \`signage data repair ${folder} --into NEW\`.`,
    { cause: error },
  );
}
