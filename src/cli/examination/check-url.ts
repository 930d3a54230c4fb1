import { basename } from 'node:path/posix';
import type { ForeignFile, Verdict } from '../../media/examination/verdict.ts';
import { isLoopback } from '../connection/loopback.ts';
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
import { error, type MediaProblem, warning, withFileNames } from './finding.ts';
import { followRedirects, type Hop } from './follow-redirects.ts';
import { framingProblem, storageProblem } from './page-checks.ts';
import { fileSize, firstRange, firstRangeProblem, largeFileProblems } from './range-checks.ts';
import { remoteFile } from './remote-file.ts';
import type { Send } from './send.ts';
import { expiryProblem } from './signed-url.ts';

export type Examine = (file: ForeignFile) => Promise<Verdict>;

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
export function totalSizeProblem(
  sizes: readonly number[],
  maxSizeGB: number,
): MediaProblem | undefined {
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
export interface CheckedMedia {
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
  examine: Examine;
  report(problem: MediaProblem): void;
}

/** Returns problems that are visible in the URL alone, without a request. */
function addressProblems({ url, type }: CheckedMedia, player: URL): MediaProblem[] {
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

/** Returns what the file itself lacks. Without ranges, a TV cannot reach an index at the end. */
function fileProblems({ findings }: Verdict, { url, reply }: Hop): MediaProblem[] {
  const name = basename(url.pathname) || url.host;
  return findings.map((finding): MediaProblem => {
    const isFar = finding.check === 'moov' && reply.status !== 206;
    return {
      ...finding,
      advice: withFileNames(finding.advice, name),
      ...(isFar && {
        level: 'error',
        effect: 'Without ranges, a TV that streams must load the whole file first. Some give up.',
      }),
    };
  });
}

/** Returns the result of each check of a web page. `undefined`: the check passed. */
async function pageProblems(
  { url, reply }: Hop,
  { storage }: CheckedMedia,
  { player, examine }: MediaCheckContext,
): Promise<(MediaProblem | undefined)[]> {
  const { format } = isEncoded(reply)
    ? { format: undefined }
    : await examine({ head: reply.body, isWhole: false });
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
  { type, maxSizeGB }: CheckedMedia,
  hops: readonly [...Hop[], Hop],
  { player, send, examine, report }: MediaCheckContext,
): Promise<number | undefined> {
  const file = hops.at(-1) as Hop;
  const add = (...problems: (MediaProblem | undefined)[]) => {
    for (const problem of problems) if (problem) report(problem);
  };
  const isCompressed = isEncoded(file.reply);
  const size = isCompressed ? undefined : fileSize(file.reply);
  const rangeFault = firstRangeProblem(file);
  const { head, isWhole, source } = remoteFile(file, size, send);
  const examined = { head, isWhole, source: rangeFault ? undefined : source };
  const verdict = isCompressed ? undefined : await examine(examined);
  const format = verdict?.format;
  const content = isCompressed ? encodingProblem(file.reply) : contentProblem(type, format);
  add(content);
  // The headers of a wrong file, such as an error page, say nothing about the right one.
  if (content?.level === 'error') return undefined;
  add(typeProblem(type, file.reply, format));
  const isLarge = type === 'video' || (size ?? 0) > partBytes;
  add(rangeFault);
  if (!isCompressed && !rangeFault) {
    add(size === undefined ? lengthProblem() : sizeProblem(size, maxSizeGB));
    if (isLarge) add(...(await largeFileProblems(file, send)));
    if (verdict) add(...fileProblems(verdict, file));
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
export async function checkUrl(
  media: CheckedMedia,
  context: MediaCheckContext,
): Promise<number | undefined> {
  const { url, type, validUntilMs } = media;
  const { player, nowMs, send, report } = context;
  for (const problem of addressProblems(media, player)) report(problem);
  const expiry = expiryProblem(url, nowMs, validUntilMs);
  if (expiry) report(expiry);
  // Browsers load the page of a frame without CORS.
  const headersFor = (origin: string): Record<string, string> =>
    type === 'html' ? {} : { origin, range: firstRange };
  const hops = await followRedirects(url, { player, headersFor, send, report });
  const file = hops?.at(-1);
  if (!hops || !file) return undefined;
  const failed = isEmpty(file.reply) ? emptyProblem() : statusProblem(file.reply, type !== 'html');
  if (failed) {
    report(failed);
    return undefined;
  }
  if (type !== 'html') return checkFile(media, hops, context);
  for (const problem of await pageProblems(file, media, context)) if (problem) report(problem);
  return undefined;
}
