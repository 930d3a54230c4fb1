import { forEachBounded } from '../../../domain/concurrency.ts';
import { isLoopback } from '../../api/loopback.ts';
import type { Selected } from '../../options/select-screens.ts';
import {
  attachmentProblem,
  type CreativeType,
  contentProblem,
  emptyProblem,
  encodingProblem,
  isEmpty,
  isEncoded,
  statusProblem,
  typeProblem,
} from './content-checks.ts';
import { corsProblem, corsRangeProblems } from './cors-checks.ts';
import { error, type MediaFinding, type MediaProblem, shownUrl, warning } from './finding.ts';
import { follow, type Hop } from './follow.ts';
import { mp4Problem } from './mp4.ts';
import { framingProblem, storageProblem } from './page-checks.ts';
import { fileSize, firstRange, firstRangeProblem, largeFileProblems } from './range-checks.ts';
import type { Send } from './send.ts';
import { makeSender, type SendOptions } from './send.ts';
import { expiryProblem } from './signed-url.ts';
import { sniff } from './sniff.ts';

const gigabyte = 1e9;
const sizeText = (size: number) => `${(size / gigabyte).toFixed(1)} GB`;
const advice = 'Make the files smaller, or raise cachePolicy.maxSizeGB.';

/** Checks a file of `size` bytes against the cache of a TV. */
function sizeProblem(size: number, maxSizeGB: number): MediaProblem | undefined {
  if (size <= maxSizeGB * gigabyte) return undefined;
  return error('size', {
    detail: `The file has ${sizeText(size)}, and cachePolicy.maxSizeGB is ${maxSizeGB}.`,
    effect: 'A TV cannot keep a copy, so the item needs the network each time.',
    advice,
  });
}

/**
 * Checks all files of a playlist together. Returns `undefined` if one file alone is too large,
 * because that file has its own finding.
 */
function totalSizeProblem(sizes: readonly number[], maxSizeGB: number): MediaProblem | undefined {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const max = maxSizeGB * gigabyte;
  if (total <= max || sizes.some((size) => size > max)) return undefined;
  return error('size', {
    detail: `The files have ${sizeText(total)} together, and cachePolicy.maxSizeGB is ${maxSizeGB}.`,
    effect: 'A TV downloads some of them again in each loop, so it needs the network.',
    advice,
  });
}

const lengthProblem = () =>
  warning('length', {
    detail: 'The server does not say how long the file is. It may be an endless stream.',
    effect: 'A TV does not know whether it has the whole file, or whether it fits its cache.',
    advice: 'Make the server send Content-Length.',
  });

/** Players load files in parts of 8 MiB, so smaller ones need no ranges. */
const partBytes = 8 * 1024 * 1024;

/** A media file, and the requirements of the playlists. */
interface Media {
  url: URL;
  type: CreativeType;
  /** Whether a page keeps its origin. */
  storage: boolean;
  /** Latest end of the playlists, in epoch milliseconds. `Infinity`: one has no end. */
  validUntilMs: number;
  /** Smallest `cachePolicy.maxSizeGB` of the screens. `Infinity`: unknown. */
  maxSizeGB: number;
}

/**
 * Input of a check in addition to the file.
 */
interface MediaCheckContext {
  /** The address at which TVs reach the service and its player. */
  player: URL;
  nowMs: number;
  send: Send;
  report(problem: MediaProblem): void;
}

/** Returns problems that are visible in the URL alone, without a request. */
function addressProblems({ url, type }: Media, player: URL): MediaProblem[] {
  const isLocal = isLoopback(url.hostname) && !isLoopback(player.hostname);
  const isMixed = url.protocol === 'http:' && player.protocol === 'https:';
  const local = error('address', {
    detail: `The host ${url.hostname} is this machine.`,
    effect: 'A TV looks for the file on itself.',
    advice: 'Use an address that TVs can reach.',
  });
  const mixed = error('mixed', {
    detail: `The URL is http, and the service is ${player.origin}.`,
    effect: `Browsers block http ${type === 'html' ? 'pages' : 'files'} on a page that was loaded by https.`,
    advice: 'Serve the file by https.',
  });
  return [...(isLocal ? [local] : []), ...(isMixed ? [mixed] : [])];
}

/** Returns the result of each check of a web page. `undefined`: the check passed. */
function pageProblems(
  { url, reply }: Hop,
  { storage }: Media,
  player: URL,
): (MediaProblem | undefined)[] {
  const format = isEncoded(reply) ? undefined : sniff(reply.body);
  return [
    contentProblem('html', format) ?? typeProblem('html', reply, format),
    attachmentProblem(reply),
    framingProblem({ url, reply }, player),
    storageProblem({ url, reply, storage }, player),
  ];
}

/**
 * Checks an image or a video whose response is successful and not empty. Returns its size in bytes,
 * if known.
 */
async function checkFile(
  { type, maxSizeGB }: Media,
  hops: readonly [...Hop[], Hop],
  { player, send, report }: MediaCheckContext,
): Promise<number | undefined> {
  const file = hops.at(-1) as Hop;
  const add = (...problems: (MediaProblem | undefined)[]) => {
    for (const problem of problems) if (problem) report(problem);
  };
  const isCompressed = isEncoded(file.reply);
  const size = isCompressed ? undefined : fileSize(file.reply);
  const isWhole = size === file.reply.body.length;
  const format = isCompressed ? undefined : sniff(file.reply.body, isWhole);
  const content = isCompressed ? encodingProblem(file.reply) : contentProblem(type, format);
  add(content);
  // The headers of a wrong file, such as an error page, say nothing about the right one.
  if (content?.level === 'error') return undefined;
  add(typeProblem(type, file.reply, format));
  const isLarge = type === 'video' || (size ?? 0) > partBytes;
  const rangeFault = firstRangeProblem(file);
  add(rangeFault);
  if (!isCompressed && !rangeFault) {
    add(size === undefined ? lengthProblem() : sizeProblem(size, maxSizeGB));
    if (isLarge) add(...(await largeFileProblems(file, send)));
    if (format?.name === 'an MP4 video') add(await mp4Problem(file, size, send));
  }
  const refused = corsProblem(hops, player);
  add(refused);
  if (!refused && isLarge) add(...(await corsRangeProblems(hops, player, send)));
  return size;
}

/**
 * Checks one media file, and reports its problems. Returns its size in bytes, if known. Throws
 * `interrupted` if the signal aborts.
 */
async function checkUrl(media: Media, context: MediaCheckContext): Promise<number | undefined> {
  const { url, type, validUntilMs } = media;
  const { player, nowMs, send, report } = context;
  for (const problem of addressProblems(media, player)) report(problem);
  const expiry = expiryProblem(url, nowMs, validUntilMs);
  if (expiry) report(expiry);
  // Browsers load the page of a frame without CORS.
  const headersFor = (origin: string): Record<string, string> =>
    type === 'html' ? {} : { origin, range: firstRange };
  const hops = await follow(url, { player, headersFor, send, report });
  const file = hops?.at(-1);
  if (!hops || !file) return undefined;
  const failed = isEmpty(file.reply) ? emptyProblem() : statusProblem(file.reply, type !== 'html');
  if (failed) {
    report(failed);
    return undefined;
  }
  if (type !== 'html') return checkFile(media, hops, context);
  for (const problem of pageProblems(file, media, player)) if (problem) report(problem);
  return undefined;
}

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
  onProgress?(done: number, total: number): void;
}

export interface MediaReport {
  /** Findings about files, in the order of the playlists, then findings about whole playlists. */
  findings: MediaFinding[];
  /** Number of different media files. */
  files: number;
}

/** A media file, the requirements of the playlists, and its first position. */
interface Entry extends Media {
  place: Pick<MediaFinding, 'screen' | 'item'>;
  uses: number;
  size: number | undefined;
  problems: MediaProblem[];
}

const keyOf = ({ creativeUrl, creativeType, storage }: CheckedPlaylist['items'][number]) =>
  `${creativeType} ${storage === true} ${creativeUrl.split('#', 1)}`;

/** Collects the distinct files of all playlists, each file with its strictest requirements. */
function collect(playlists: readonly CheckedPlaylist[], player: URL): Map<string, Entry> {
  const entries = new Map<string, Entry>();
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

async function checkEntry(entry: Entry, options: MediaCheckOptions): Promise<void> {
  const { clock, player } = options;
  const report = (problem: MediaProblem) => {
    // Several requests of one check may fail for the same reason.
    if (!entry.problems.some(({ detail }) => detail === problem.detail))
      entry.problems.push(problem);
  };
  const { send, stop } = makeSender({ ...options, report });
  try {
    entry.size = await checkUrl(entry, { player, nowMs: clock.now(), send, report });
  } finally {
    stop();
  }
}

/** Checks whether all files of a playlist fit the cache of a TV together. */
function totalFindings(
  { screen, items, maxSizeGB }: CheckedPlaylist,
  entries: ReadonlyMap<string, Entry>,
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
export async function checkMedia(
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
