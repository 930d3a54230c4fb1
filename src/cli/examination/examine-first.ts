import { serviceAddress } from '../../client/transport.ts';
import { secondMs } from '../../domain/clock.ts';
import { forEachBounded } from '../../domain/concurrency.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import { mediaIdOf } from '../../domain/media/media.ts';
import type { CommandContext } from '../program/context.ts';
import { withProgress } from '../terminal/progress.ts';
import { type CheckedPlaylist, checkPlaylistMedia } from './check-media.ts';
import { type MediaFinding, mattersOnGlass, playsNowhere } from './finding.ts';
import { sendOptionsOf } from './send-options.ts';

export type CheckedItem = CheckedPlaylist['items'][number];

/** Maximum time before something is put on a wall, in an emergency, too. */
export const examinationMs = 3 * secondMs;
const itemsAtOnce = 8;
const maxShown = 5;

/** Checks that say that this machine could not look. TVs may see more. */
const unseen: readonly MediaFinding['check'][] = ['dns', 'connect', 'tls', 'connection', 'timeout'];

const hostOf = ({ creativeUrl }: CheckedItem) => new URL(creativeUrl).host;

/** What an examination found of an item: a text, and whether no TV shows anything of it. */
export interface ItemFinding {
  item: CheckedItem;
  level: MediaFinding['level'];
  isFatal: boolean;
  text: string;
}

/** Returns the URLs of other hosts, each once. */
export function foreignItems(items: readonly CheckedItem[]): CheckedItem[] {
  const byUrl = new Map<string, CheckedItem>();
  for (const item of items)
    if (mediaIdOf(item.creativeUrl) === undefined)
      byUrl.set(`${item.creativeType} ${item.storage === true} ${item.creativeUrl}`, item);
  return [...byUrl.values()];
}

function findingsOf(item: CheckedItem, findings: readonly MediaFinding[]): ItemFinding[] {
  return findings.filter(mattersOnGlass).map((finding): ItemFinding => {
    const { url, level, check, detail, effect, advice } = finding;
    if (unseen.includes(check)) {
      const text = `The media of ${hostOf(item)} were not examined. ${detail}`;
      return { item, level: 'warning', isFatal: false, text };
    }
    const isFatal = playsNowhere(finding, item.creativeType);
    return { item, level, isFatal, text: `${url}: ${detail} ${effect} ${advice}` };
  });
}

/**
 * Examines the URLs of items, each once, for at most `limitMs` in all. Leaves out what is about
 * copies and speed. `late` are the items that were not examined in time.
 */
export async function examineUrls(
  call: CommandContext,
  items: readonly CheckedItem[],
  limitMs: number,
): Promise<{ found: ItemFinding[]; late: CheckedItem[] }> {
  const limit = new AbortController();
  const cancel = call.clock.after(limitMs, () => limit.abort());
  const { url } = await call.profile();
  const options = {
    ...(await sendOptionsOf(call, limitMs)),
    interrupted: AbortSignal.any([call.interrupted, limit.signal]),
    player: new URL(serviceAddress(url.value)),
    examine: call.examine,
  };
  const limits = { validUntil: null, maxSizeGB: Number.POSITIVE_INFINITY };
  const found = new Map<CheckedItem, readonly MediaFinding[]>();
  const examine = async (item: CheckedItem) => {
    if (limit.signal.aborted) return;
    try {
      const playlist = { screen: null, shownOn: [], items: [item], ...limits };
      found.set(item, (await checkPlaylistMedia([playlist], options)).findings);
    } catch (error) {
      const isLate = limit.signal.aborted && !call.interrupted.aborted;
      if (!isLate || !hasCode(error, 'interrupted')) throw error;
    }
  };
  try {
    await forEachBounded(items, itemsAtOnce, examine);
  } finally {
    cancel();
  }
  return {
    found: items.flatMap((item) => findingsOf(item, found.get(item) ?? [])),
    late: items.filter((item) => !found.has(item)),
  };
}

interface FirstOptions {
  /** The flag of the command that leaves this out. Default: force. */
  flag?: 'force' | 'unexamined';
  /** When the examination ends. Default: after 3 seconds. */
  untilMs?: number;
}

/**
 * Examines the URLs of items before they are put on a wall, for at most 3 seconds. Throws
 * `media_not_accepted` if no TV shows anything of one. What some TVs do not show, and what this
 * machine cannot reach, it only warns of.
 */
export async function examineFirst(
  call: CommandContext,
  items: readonly CheckedItem[],
  { flag = 'force', untilMs = call.clock.now() + examinationMs }: FirstOptions = {},
): Promise<void> {
  const foreign = foreignItems(items);
  if (call.options[flag] || foreign.length === 0) return;
  const limitMs = Math.max(0, untilMs - call.clock.now());
  const { found, late } = await withProgress(call, (show) => {
    show('Examining the media …');
    return examineUrls(call, foreign, limitMs);
  });
  const warnings = new Set(found.flatMap(({ isFatal, text }) => (isFatal ? [] : [text])));
  for (const text of [...warnings].slice(0, maxShown)) call.note(`Warning: ${text}`);
  if (warnings.size > maxShown)
    call.note(`And ${warnings.size - maxShown} more warnings: signage playlist check lists all.`);
  if (late.length > 0)
    call.note(
      `Warning: ${late.length} of ${foreign.length} URLs could not be examined in 3 seconds.`,
    );
  const refused = found.filter(({ isFatal }) => isFatal).map(({ text }) => text);
  if (refused.length === 0) return;
  const hidden = refused.length - maxShown;
  const more = hidden > 0 ? ` And ${hidden} more.` : '';
  throw new SignageError(
    'media_not_accepted',
    `Nothing was changed, because no TV shows these as they were meant. ${refused.slice(0, maxShown).join(' ')}${more}`,
    { hint: `To put it on the wall all the same: --${flag}` },
  );
}
