import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { type Clock, type Random, systemClock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { type FileSystem, nodeFileSystem } from './json/file-system.ts';
import { lockFolder } from './json/folder-lock.ts';
import { makeMemoryFileSystem } from './json/memory-file-system.ts';
import { openJsonStore } from './json/open-json-store.ts';
import type { PartContext } from './json/parts.ts';
import type { Store } from './store.ts';

export interface OpenStoreOptions {
  clock?: Clock;
  random?: Random;
  /** The disk under a data folder. Given with `memory:`, the store is kept there, unlocked, and opens again from it. */
  disk?: FileSystem;
  /** Told what deserves a line in the log: a checkpoint that failed and is tried again, a torn record that was cut off. */
  onWarning?: (message: string, cause?: unknown) => void;
}

/** Below this a store refuses to write, so that there is room left to put things right. */
const lowWaterBytes = 16 * 1024 * 1024;

/**
 * Opens a store: a data folder, made when there is none, or `memory:`, which is the same without files.
 *
 * Throws `SignageError`s that say what to do: `store_locked`, `store_damaged`, `store_too_new`, `store_unusable`.
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
    return openJsonStore({ ...common, disk: options.disk ?? makeMemoryFileSystem(), directory: 'memory:' }, random, async () => {});
  }
  if (/^[a-z][a-z0-9+]+:/i.test(location)) {
    throw new SignageError('not_supported', `${location.split(':')[0]}: is no kind of store: name a folder, or memory:.`);
  }
  return openFolder({ ...common, disk: options.disk ?? nodeFileSystem, directory: resolve(location) }, random);
}

async function openFolder(context: PartContext, random: Random): Promise<Store> {
  const { disk, directory, clock } = context;
  let release = async () => {};
  try {
    await disk.makeDirectory(directory);
    release = await lockFolder(directory, { clock, random, platform: process.platform });
    return await openJsonStore(context, random, release);
  } catch (error) {
    await release();
    if (error instanceof SignageError) throw error;
    const { message } = error as Error;
    throw new SignageError('store_unusable', `${directory} cannot be used as a data folder: ${message}`, { cause: error });
  }
}
