import { type FileFinding, fileChecks } from '../../media/examination/file-finding.ts';
import { shownPath } from '../connection/connect.ts';
import type { View } from '../output/view.ts';
import { members, wideMembers } from '../output/view.ts';
import { shellQuote } from '../terminal/text.ts';

/** The checks of media, in the order in which docs/media.md lists them. */
export const mediaChecks = [
  'dns',
  'connect',
  'tls',
  'connection',
  'timeout',
  'slow',
  'status',
  'address',
  'mixed',
  'redirect',
  'expires',
  'empty',
  'content',
  'type',
  'attachment',
  'framing',
  'storage',
  'isolation',
  'encoding',
  'length',
  'size',
  'ranges',
  'if-range',
  'validator',
  ...fileChecks,
  'cors',
  'preflight',
  'expose',
] as const;
type MediaCheck = (typeof mediaChecks)[number];

interface ProblemText {
  /** The problem. */
  detail: string;
  /** Its effect on a TV. */
  effect: string;
  /** The remedy. */
  advice: string;
}

/** A problem of one media file. */
export interface MediaProblem extends ProblemText {
  /**
   * `error`: some or all TVs do not show the item. `warning`: a TV shows it late, keeps no copy, or
   * may freeze.
   */
  level: 'error' | 'warning';
  check: MediaCheck;
}

/** A problem and its place. All members are scalars, so that each becomes a column in CSV. */
export interface MediaFinding extends MediaProblem {
  /** The first screen that has the item. `null` for a file. */
  screen: string | null;
  /** Position of the first item with this URL, from 1. `null`: the playlist as a whole. */
  item: number | null;
  /** Number of items with this URL, in all checked playlists. */
  uses: number;
  /** The URL without its secrets. `null`: the playlist as a whole. */
  url: string | null;
}

/** Maximum length of `detail`, in characters. It may quote long headers. */
const maxDetail = 400;

const problem =
  (level: MediaProblem['level']) =>
  (check: MediaCheck, { detail, effect, advice }: ProblemText): MediaProblem => ({
    level,
    check,
    detail: detail.length > maxDetail ? `${detail.slice(0, maxDetail)}…` : detail,
    effect,
    advice,
  });

export const error = problem('error');
export const warning = problem('warning');

/**
 * Whether a finding matters before a file is shown: no TV, or not every TV, shows it. Others are
 * about copies and speed.
 */
export const mattersOnGlass = ({ level, check }: MediaProblem): boolean =>
  level === 'error' || fileChecks.some((one) => one === check);

const fatal: readonly MediaCheck[] = [
  'status',
  'framing',
  'content',
  'empty',
  'attachment',
  ...fileChecks.filter((check) => check !== 'moov'),
];

/** Whether no TV shows anything of an item. */
export const playsNowhere = ({ level, check }: MediaProblem, creativeType?: string): boolean =>
  level === 'error' && (fatal.includes(check) || (check === 'type' && creativeType === 'html'));

/** Puts the name of a file, and that of a new one, into the commands of a text. */
export function withFileNames(text: string, path: string): string {
  const stem = path.replace(/\.[^./\\]+$/, '');
  return text
    .replaceAll(/\bIN\b/g, () => shellQuote(path))
    .replaceAll(/\bOUT(\.[a-z\d]+)?\b/g, (_, extension = '') =>
      shellQuote(`${stem}-new${extension}`),
    );
}

/** Formats a finding about a file for people. */
export const fileText = (path: string, { detail, effect, advice }: FileFinding): string =>
  `${path}: ${detail} ${effect} ${withFileNames(advice, path)}`;

/** Formats a finding for people, without its URL. */
export function findingText({
  screen,
  item,
  uses,
  check,
  detail,
  effect,
  advice,
}: MediaFinding): string {
  const times = uses > 1 ? ` (used ${uses} times)` : '';
  const place = [screen, item === null ? 'playlist' : `item ${item}${times}`]
    .filter((part) => part !== null)
    .join(', ');
  return `${place}: ${check}: ${detail} ${effect} ${advice}`;
}

export const mediaFindingView: View<MediaFinding> = {
  columns: [
    ...members<MediaFinding>('level', 'check', 'screen', 'item', 'url', 'detail'),
    ...wideMembers<MediaFinding>('uses', 'effect', 'advice'),
  ],
  marked: (finding) => ({
    mark: finding.level === 'error' ? 'fail' : 'warn',
    text: findingText(finding),
    next: finding.url,
  }),
  nameOf: ({ check, item, url }) => [check, item, url].filter((part) => part !== null).join(' '),
};

/**
 * Formats a media URL for output. Hides the whole query, which may contain a signature. Hides keys
 * and codes of the service in the path, too.
 *
 * @example shownUrl(new URL('https://cdn.example/a.mp4?sig=1')) // 'https://cdn.example/a.mp4?…'
 */
export function shownUrl({ origin, pathname, search }: URL): string {
  return `${origin}${shownPath(pathname)}${search === '' ? '' : '?…'}`;
}

/** The effect of a file that does not load. */
export const notLoaded = 'A TV cannot load the item.';
