import { iso, isoOrNull, secondMs } from '../../domain/clock.ts';
import {
  clockToleranceMs,
  isHidden,
  type Judgement,
  lastVisible,
} from '../../domain/conditions/condition.ts';
import type { ScreenStatusView } from '../../domain/conditions/screen-status.ts';
import { type LayerName, layerOfEntry } from '../../domain/layers/layer-names.ts';
import { layerStateOf } from '../../domain/layers/layer-state.ts';
import { layerText } from '../../domain/layers/layer-text.ts';
import { nameInMediaUrl } from '../../domain/playlists/media-url.ts';
import type { PlaylistStatus } from '../../domain/playlists/playlist.ts';
import type { LastActivity, PlayError } from '../../domain/records/activity.ts';
import type { DeliveredNow } from '../schedules/delivered-now.ts';

/** What a status has to know about the items of a playlist. */
export interface ItemFacts {
  longestItemMs: number;
  byCreative: ReadonlyMap<string, ItemFact>;
}

interface ItemFact extends Pick<ConditionItem, 'creativeUrl' | 'creativeType'> {
  name: string;
  host: string;
  /** The layer that has the item. */
  layer: LayerName | null;
  entryId: string | null;
}

const noLayer: Pick<ItemFact, 'layer' | 'entryId'> = { layer: null, entryId: null };

interface ConditionItem {
  creativeId: string;
  creativeUrl: string;
  creativeType: string;
  duration: number;
  name?: unknown;
}

/** Returns the facts about items, of this layer. */
export function itemFacts(itemsJson: string, { layer, entryId } = noLayer): ItemFacts {
  const items = JSON.parse(itemsJson) as ConditionItem[];
  const byCreative = new Map(
    items.map(({ creativeId, creativeUrl, creativeType, name }) => {
      const url = new URL(creativeUrl, 'http://service.invalid');
      const own = url.hostname === 'service.invalid';
      return [
        creativeId,
        {
          name: typeof name === 'string' ? name : nameInMediaUrl(url),
          host: own ? 'this service' : url.host,
          creativeUrl,
          creativeType,
          layer,
          entryId,
        },
      ];
    }),
  );
  const seconds = items.reduce((longest, { duration }) => Math.max(longest, duration), 0);
  return { longestItemMs: seconds * secondMs, byCreative };
}

const reasonTexts: Readonly<Record<string, string>> = {
  unreachable: 'the TV cannot reach the host',
  not_media: 'it is not of the type that the playlist says',
  codec: 'the TV cannot decode it',
  stalled: 'loading stalled',
  hung: 'the page did not load within 10 seconds',
  too_large: 'it is too large for the TV',
  mixed_content: 'the browser blocks http on a page of https',
};

const reasonText = (reason: string) =>
  reasonTexts[reason] ?? reason.replace(/^http_(\d{3})$/, 'HTTP $1');

function failure(
  errors: readonly PlayError[],
  facts: ItemFacts | undefined,
): ScreenStatusView['reason'] {
  const [newest, ...others] = errors;
  if (!newest) return null;
  const item = facts?.byCreative.get(String(newest.creativeId));
  const name = item?.name ?? newest.creativeId;
  const where = item ? ` from ${item.host}` : '';
  const what = name === null ? 'An item' : `"${name}"${where}`;
  const more =
    others.length === 0
      ? ''
      : ` ${others.length === 1 ? '1 other item fails' : `${others.length} other items fail`}, too.`;
  return { code: newest.reason, text: `${what} fails: ${reasonText(newest.reason)}.${more}` };
}

const idleReasons: Readonly<Record<PlaylistStatus | 'none', string>> = {
  none: 'Nothing was published.',
  withdrawn: 'The playlist was withdrawn.',
  expired: 'The playlist has ended.',
  superseded: 'Nothing is published.',
  active: '',
};

/** The judgement of a screen, and what it follows from. */
export interface Judged {
  judgement: Judgement;
  activity: LastActivity | undefined;
  playlist: { version: number; status: PlaylistStatus } | undefined;
  /** The layer that is due, and the others. `undefined`: nothing is. */
  due?: DeliveredNow | undefined;
  /** Of the items that the TV was given. */
  facts: ItemFacts | undefined;
}

function fallenReason(
  due: DeliveredNow,
  why: ScreenStatusView['reason'],
): ScreenStatusView['reason'] {
  const text = `All of ${layerText(due.layer, due.entryId)} fails, so that what is beneath plays. ${why?.text ?? ''}`;
  return { code: `${due.layer}_failed`, text: text.trim() };
}

/** Returns why a screen is not `playing`. */
export function reasonOf({ judgement, ...others }: Judged): ScreenStatusView['reason'] {
  const { activity, playlist, facts } = others;
  const { condition, errors, asleepWith = 'dark' } = judgement;
  switch (condition) {
    case 'unpaired':
      return { code: 'no_device', text: 'No TV is paired.' };
    case 'never_seen':
      return { code: 'no_calls', text: 'The TV is paired, and has not called yet.' };
    case 'dark': {
      const frozen = isHidden(activity ?? {}) ? ' Its page was hidden, and may be frozen.' : '';
      return { code: 'no_calls', text: `The TV does not call the service.${frozen}` };
    }
    case 'stopped':
      return { code: 'app_stopped', text: 'The app of the TV was stopped.' };
    case 'hidden':
      return {
        code: 'hidden',
        text: 'The page of the TV is hidden, such as by a display that is off.',
      };
    case 'failing':
      return failure(errors, facts);
    case 'partly_failing': {
      const why = failure(errors, facts);
      return judgement.hasFallen && others.due ? fallenReason(others.due, why) : why;
    }
    case 'asleep': {
      const awake = reasonOf({ judgement: { ...judgement, condition: asleepWith }, ...others });
      return { code: 'closed', text: `It is outside its hours. ${awake?.text}` };
    }
    case 'silent':
      return { code: 'no_plays', text: 'The TV calls, but no longer reports that it plays.' };
    case 'unconfirmed':
      return activity?.isPlayTimeGuessed
        ? { code: 'clock', text: 'The clock of the TV is wrong, so its plays cannot be dated.' }
        : !activity || lastVisible(activity) === undefined
          ? { code: 'never_played', text: 'The TV has not reported a play yet.' }
          : { code: 'not_yet', text: 'The TV has not reported a play since then.' };
    case 'idle': {
      const status = playlist?.status ?? 'none';
      return { code: status === 'none' ? 'no_playlist' : status, text: idleReasons[status] };
    }
    case 'outdated':
      return {
        code: 'old_version',
        text: `The TV plays version ${activity?.lastPlaylistVersion} instead of ${playlist?.version}.`,
      };
    case 'playing':
      return null;
  }
}

/** The conditions in which the last play is what the screen shows. */
const playing: readonly Judgement['condition'][] = ['partly_failing', 'outdated', 'playing'];

/** Returns the layer of the visible item: as the TV said, or that of its last play. */
function visibleLayer(
  due: DeliveredNow | undefined,
  { shown, lastPlayAt = 0 }: LastActivity,
  item: ItemFact | undefined,
): { layer: LayerName | null; entryId: string | null } {
  const { layer = null, entryId: ofItem = null } = item ?? {};
  const isLater = item && shown && lastPlayAt > shown.at && ofItem !== shown.entryId;
  if (!shown || isLater) return { layer, entryId: ofItem };
  const { entryId } = shown;
  const known = due && [due, ...due.others].find((one) => one.entryId === entryId);
  return { layer: known?.layer ?? layerOfEntry(entryId), entryId };
}

/** Conditions in which nothing is known of the screen, or nothing is visible. */
const away: readonly Judgement['condition'][] = [
  'unpaired',
  'dark',
  'never_seen',
  'stopped',
  'hidden',
];

function layerView({
  due,
  playlist,
  activity,
  judgement,
  facts,
}: Judged): ScreenStatusView['layer'] {
  const isAway = away.includes(judgement.asleepWith ?? judgement.condition);
  if (!due || !playlist || !activity || isAway) return null;
  const { layer: name, entryId } = due;
  const isItsItem = (creativeId: string) => {
    const fact = facts?.byCreative.get(creativeId);
    return fact?.layer === name && fact.entryId === entryId;
  };
  const version = { ...due, version: playlist.version };
  const { state, sinceMs } = layerStateOf(version, activity, isItsItem);
  return { name, entryId, state, since: isoOrNull(sinceMs) };
}

/** The members of a status that say what is on the glass (docs/protocol.md §5.15). */
export function conditionView(
  input: Judged,
): Pick<
  ScreenStatusView,
  'condition' | 'since' | 'reason' | 'playing' | 'layer' | 'clock' | 'muted' | 'errors'
> {
  const { judgement, activity, facts, due } = input;
  const { condition, since, errors } = judgement;
  const { clockOffsetMs, mutedSince } = activity ?? {};
  const factOf = (id: string | null) => facts?.byCreative.get(id ?? '');
  const visible = activity && lastVisible(activity);
  const played = factOf(visible?.creativeId ?? null);
  return {
    condition,
    since: since === null ? null : iso(since),
    reason: reasonOf(input),
    playing:
      visible && playing.includes(condition)
        ? {
            creativeId: visible.creativeId,
            name: played?.name ?? null,
            creativeUrl: played?.creativeUrl ?? null,
            creativeType: played?.creativeType ?? null,
            since: iso(visible.at),
            ...visibleLayer(due, activity, played),
          }
        : null,
    layer: layerView(input),
    clock:
      clockOffsetMs != null && Math.abs(clockOffsetMs) > clockToleranceMs
        ? { offsetSeconds: Math.round(-clockOffsetMs / secondMs) }
        : null,
    muted: mutedSince == null ? null : { since: iso(mutedSince) },
    errors: errors.map(({ creativeId, reason, since: first, at }) => ({
      creativeId,
      name: factOf(creativeId)?.name ?? null,
      host: factOf(creativeId)?.host ?? null,
      reason,
      since: iso(first),
      at: iso(at),
    })),
  };
}
