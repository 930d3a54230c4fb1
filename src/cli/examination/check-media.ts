import { forEachBounded } from '../../domain/concurrency.ts';
import type { Selected } from '../records/select-screens.ts';
import { type CheckedMedia, checkUrl, type Examine, totalSizeProblem } from './check-url.ts';
import type { CreativeType } from './content-checks.ts';
import { type MediaFinding, type MediaProblem, shownUrl } from './finding.ts';
import { makeSender, type SendOptions } from './send.ts';

/** Number of media files checked concurrently. */
const filesAtOnce = 8;

/** A playlist whose media are checked. */
export interface CheckedPlaylist {
  /** The name of its screen. `null` for a file. */
  screen: string | null;
  /** All screens that show it. */
  shownOn: readonly Selected[];
  items: readonly {
    creativeUrl: string;
    creativeType: CreativeType;
    storage?: boolean | undefined;
  }[];
  /** Unix epoch seconds. `null`: no end. */
  validUntil: number | null;
  /** The `cachePolicy.maxSizeGB` of the screen. `Infinity`: unknown. */
  maxSizeGB: number;
}

export interface MediaCheckOptions extends Omit<SendOptions, 'report'> {
  /** The address at which TVs reach the service and its player. */
  player: URL;
  /** Examines the first bytes of a file. */
  examine: Examine;
  onProgress?(done: number, total: number): void;
}

export interface MediaReport {
  /** Findings about files, in the order of the playlists, then findings about whole playlists. */
  findings: MediaFinding[];
  /** Number of different media files. */
  files: number;
}

/** A media file, the requirements of the playlists, and its first position. */
interface FileEntry extends CheckedMedia {
  place: Pick<MediaFinding, 'screen' | 'item'>;
  uses: number;
  size: number | undefined;
  problems: MediaProblem[];
}

const keyOf = ({ creativeUrl, creativeType, storage }: CheckedPlaylist['items'][number]) =>
  `${creativeType} ${storage === true} ${creativeUrl.split('#', 1)}`;

/** Collects the distinct files of all playlists, each file with its strictest requirements. */
function collect(playlists: readonly CheckedPlaylist[], player: URL): Map<string, FileEntry> {
  const entries = new Map<string, FileEntry>();
  for (const { screen, items, validUntil, maxSizeGB } of playlists) {
    const validUntilMs = (validUntil ?? Number.POSITIVE_INFINITY) * 1000;
    for (const [at, item] of items.entries()) {
      const known = entries.get(keyOf(item));
      if (known) {
        known.uses++;
        known.validUntilMs = Math.max(known.validUntilMs, validUntilMs);
        known.maxSizeGB = Math.min(known.maxSizeGB, maxSizeGB);
        continue;
      }
      entries.set(keyOf(item), {
        url: new URL(item.creativeUrl, player),
        type: item.creativeType,
        storage: item.storage === true,
        validUntilMs,
        maxSizeGB,
        place: { screen, item: at + 1 },
        uses: 1,
        size: undefined,
        problems: [],
      });
    }
  }
  return entries;
}

async function checkEntry(entry: FileEntry, options: MediaCheckOptions): Promise<void> {
  const { clock, player, examine } = options;
  const report = (problem: MediaProblem) => {
    // Several requests of one check may fail for the same reason.
    if (!entry.problems.some(({ detail }) => detail === problem.detail))
      entry.problems.push(problem);
  };
  const { send, stop } = makeSender({ ...options, report });
  try {
    entry.size = await checkUrl(entry, { player, nowMs: clock.now(), send, examine, report });
  } finally {
    stop();
  }
}

/** Checks whether all files of a playlist fit the cache of a TV together. */
function totalFindings(
  { screen, items, maxSizeGB }: CheckedPlaylist,
  entries: ReadonlyMap<string, FileEntry>,
): MediaFinding[] {
  const files = new Set(items.map(keyOf));
  const sizes = [...files].map((key) => entries.get(key)?.size ?? 0);
  const problem = totalSizeProblem(sizes, maxSizeGB);
  return problem ? [{ ...problem, screen, item: null, uses: 1, url: null }] : [];
}

/**
 * Checks the media files of playlists from this machine, each file once. Throws `interrupted` if
 * the signal aborts.
 */
export async function checkPlaylistMedia(
  playlists: readonly CheckedPlaylist[],
  options: MediaCheckOptions,
): Promise<MediaReport> {
  const entries = collect(playlists, options.player);
  let done = 0;
  await forEachBounded(entries.values(), filesAtOnce, async (entry) => {
    await checkEntry(entry, options);
    options.onProgress?.(++done, entries.size);
  });
  const findings = [...entries.values()].flatMap(({ url, place, uses, problems }) =>
    problems.map((problem) => ({ ...problem, ...place, uses, url: shownUrl(url) })),
  );
  const totals = playlists.flatMap((playlist) => totalFindings(playlist, entries));
  return { findings: [...findings, ...totals], files: entries.size };
}
