import { resolve } from 'node:path';
import { type Clock, systemClock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { isDatabaseUrl } from '../../domain/store-url.ts';
import { type ComparedSection, type CopyManner, copyBetween, countsOf } from './copy-between.ts';
import type { CopyProgress } from './copy-progress.ts';
import { type Section, type StoreSource, type StoreTarget, sections } from './transfer.ts';

/** What there is to copy of a section, and how much of it an earlier attempt has copied. */
export interface PlannedSection {
  section: Section;
  records: number;
  copied: number;
}

export interface CopyOptions extends Pick<CopyManner, 'onProgress' | 'signal'> {
  /** Where the time of a folder that is copied into comes from. */
  clock?: Clock;
  /** Told when an earlier attempt is gone on with. */
  onResume?: () => void;
}

/**
 * Copies everything that a store has into an empty one, each of them a data folder or a database by its URL, and compares the two. Both are locked
 * meanwhile: no service may run on either. What breaks off goes on when it is called again, as long as the source was not changed.
 *
 * Throws `store_locked`, `store_not_empty`, `copy_unfinished` (of the source), and what opening a store throws. When a section differs, the target stays unusable.
 *
 * @example
 * const compared = await copyStore('./signage-data', 'postgres://signage@db/signage');
 * const moved = compared.every(({ same }) => same);
 */
export async function copyStore(
  from: string,
  to: string,
  { clock = systemClock, onResume, ...manner }: CopyOptions = {},
): Promise<ComparedSection[]> {
  requireTwo(from, to);
  const source = await openSource(from);
  try {
    const target = await openTarget(to, clock);
    try {
      if (await target.begin(source)) onResume?.();
      return await copyBetween(source, target, manner);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** What `copyStore` would do; changes nothing. Throws what that throws. */
export async function planCopy(from: string, to: string): Promise<PlannedSection[]> {
  requireTwo(from, to);
  const source = await openSource(from);
  try {
    const progress = await examineTarget(to, source);
    const counts = await countsOf(source);
    return sections.map((section) => ({
      section,
      records: counts[section],
      copied: progress?.done[section] ?? 0,
    }));
  } finally {
    await source.close();
  }
}

function requireTwo(from: string, to: string): void {
  const place = (location: string) => (isDatabaseUrl(location) ? location : resolve(location));
  if (place(from) === place(to))
    throw new SignageError('invalid_option', 'The two stores are the same one: name two.');
}

async function openSource(location: string): Promise<StoreSource> {
  if (!isDatabaseUrl(location))
    return (await import('../json/copy/folder-source.ts')).openFolderSource(resolve(location));
  return (await import('../postgres/copy/database-source.ts')).openDatabaseSource(location);
}

async function openTarget(location: string, clock: Clock): Promise<StoreTarget> {
  if (!isDatabaseUrl(location))
    return (await import('../json/copy/folder-target.ts')).openFolderTarget(
      resolve(location),
      clock,
    );
  return (await import('../postgres/copy/database-target.ts')).openDatabaseTarget(location);
}

async function examineTarget(
  location: string,
  source: StoreSource,
): Promise<CopyProgress | undefined> {
  if (!isDatabaseUrl(location))
    return (await import('../json/copy/copy-marker.ts')).examineFolder(resolve(location), source);
  return (await import('../postgres/copy/database-target.ts')).examineDatabase(location, source);
}
