import { serviceAddress } from '../../client/transport.ts';
import { secondMs } from '../../domain/clock.ts';
import { forEachBounded } from '../../domain/concurrency.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import { mediaIdOf } from '../../domain/media/media.ts';
import type { CommandContext } from '../program/context.ts';
import { withProgress } from '../terminal/progress.ts';
import { type CheckedPlaylist, checkPlaylistMedia } from './check-media.ts';
import type { MediaFinding } from './finding.ts';
import { sendOptionsOf } from './send-options.ts';

type CheckedItem = CheckedPlaylist['items'][number];

/** Maximum time before something is put on a wall, in an emergency, too. */
const maxMs = 3 * secondMs;
const itemsAtOnce = 8;
const maxShown = 5;

/** Checks whose errors say that no TV shows anything. */
const fatal: readonly MediaFinding['check'][] = [
  'status',
  'framing',
  'content',
  'empty',
  'attachment',
];
/** Checks that say that this machine could not look. TVs may see more. */
const unseen: readonly MediaFinding['check'][] = ['dns', 'connect', 'tls', 'connection', 'timeout'];

const isFatal = ({ level, check }: MediaFinding, { creativeType }: CheckedItem) =>
  level === 'error' && (fatal.includes(check) || (check === 'type' && creativeType === 'html'));

const hostOf = ({ creativeUrl }: CheckedItem) => new URL(creativeUrl).host;

/** What an examination found, in the order of the items. */
interface Examined {
  refused: string[];
  warnings: Set<string>;
  /** Number of URLs that were not examined in time. */
  late: number;
}

/** Returns the URLs of other hosts, each once. */
function foreignItems(items: readonly CheckedItem[]): CheckedItem[] {
  const byUrl = new Map<string, CheckedItem>();
  for (const item of items)
    if (mediaIdOf(item.creativeUrl) === undefined)
      byUrl.set(`${item.creativeType} ${item.creativeUrl}`, item);
  return [...byUrl.values()];
}

async function examineAll(call: CommandContext, items: readonly CheckedItem[]): Promise<Examined> {
  const limit = new AbortController();
  const cancel = call.clock.after(maxMs, () => limit.abort());
  const { url } = await call.profile();
  const options = {
    ...(await sendOptionsOf(call, maxMs)),
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
    await withProgress(call, async (show) => {
      show('Examining the media …');
      await forEachBounded(items, itemsAtOnce, examine);
    });
  } finally {
    cancel();
  }
  const examined: Examined = { refused: [], warnings: new Set(), late: items.length - found.size };
  for (const [item, findings] of found)
    for (const finding of findings) {
      if (isFatal(finding, item)) examined.refused.push(`${finding.url}: ${finding.detail}`);
      else if (unseen.includes(finding.check))
        examined.warnings.add(`The media of ${hostOf(item)} were not examined. ${finding.detail}`);
    }
  return examined;
}

/**
 * Examines the URLs of items before they are put on a wall, for at most 3 seconds. Throws
 * `media_not_accepted` if one answers 4xx or 5xx, forbids frames, or is no image, video or page.
 * What this machine cannot reach, TVs may, so it only warns. Does nothing with the flag `unless`.
 */
export async function examineFirst(
  call: CommandContext,
  items: readonly CheckedItem[],
  unless: 'force' | 'unexamined' = 'force',
): Promise<void> {
  const foreign = foreignItems(items);
  if (call.options[unless] || foreign.length === 0) return;
  const { refused, warnings, late } = await examineAll(call, foreign);
  for (const detail of [...warnings].slice(0, maxShown)) call.note(`Warning: ${detail}`);
  if (late > 0)
    call.note(`Warning: ${late} of ${foreign.length} URLs could not be examined in 3 seconds.`);
  if (refused.length === 0) return;
  const hidden = refused.length - maxShown;
  const more = hidden > 0 ? ` And ${hidden} more.` : '';
  throw new SignageError(
    'media_not_accepted',
    `Nothing was changed, because a TV would show nothing of ${refused.slice(0, maxShown).join(' ')}${more}`,
    { hint: `To put it on the wall all the same: --${unless}` },
  );
}
