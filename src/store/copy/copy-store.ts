import { resolve } from 'node:path';
import { type Clock, systemClock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { isDatabaseUrl } from '../../domain/store-url.ts';
import {
  type ComparedSection,
  type CopyBetweenOptions,
  copyBetween,
  countsOf,
} from './copy-between.ts';

import {
  type CopyProgress,
  type Section,
  type StoreSource,
  type StoreTarget,
  sections,
} from './transfer.ts';

/** Number of records of a section to copy, and how many of them an earlier attempt has copied. */
export interface PlannedSection {
  section: Section;
  records: number;
  copied: number;
}

export interface CopyOptions extends Pick<CopyBetweenOptions, 'onProgress' | 'signal'> {
  /** Clock for a data folder as the target. */
  clock?: Clock;
  /** Called when the copy resumes an earlier attempt. */
  onResume?: () => void;
}

/**
 * Copies a whole store into an empty one and compares the two. `from` and `to` are each a data
 * folder or a database URL. Both stay locked during the copy: no service may run on either. Call
 * again to resume an interrupted copy, as long as the source is unchanged.
 *
 * Throws `store_locked`, `store_not_empty`, `copy_unfinished` (for the source), and the errors of
 * opening a store. If a section differs, no service can start on the target.
 *
 * @example
 * const compared = await copyStore('./signage-data', 'postgres://signage@db/signage');
 * const moved = compared.every(({ same }) => same);
 */
export async function copyStore(
  from: string,
  to: string,
  { clock = systemClock, onResume, ...copyOptions }: CopyOptions = {},
): Promise<ComparedSection[]> {
  requireDifferent(from, to);
  const source = await openSource(from);
  try {
    const target = await openTarget(to, clock);
    try {
      if (await target.begin(source)) onResume?.();
      return await copyBetween(source, target, copyOptions);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/**
 * Returns how many records of each section `copyStore` would copy. Copies nothing. Throws the
 * errors of `copyStore`.
 */
export async function planCopy(from: string, to: string): Promise<PlannedSection[]> {
  requireDifferent(from, to);
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

function requireDifferent(from: string, to: string): void {
  const place = (location: string) => (isDatabaseUrl(location) ? location : resolve(location));
  if (place(from) === place(to))
    throw new SignageError(
      'invalid_option',
      'Source and target are the same store. Name two different stores.',
    );
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
    return (await import('../json/copy/folder-progress.ts')).examineFolder(
      resolve(location),
      source,
    );
  return (await import('../postgres/copy/database-target.ts')).examineDatabase(location, source);
}
