import { iso, secondMs } from '../../domain/clock.ts';
import { clockToleranceMs, type Judgement } from '../../domain/conditions/condition.ts';
import { nameInMediaUrl } from '../../domain/playlists/media-url.ts';
import type { PlaylistStatus } from '../../domain/playlists/playlist.ts';
import type { LastActivity, PlayError } from '../../domain/records/activity.ts';
import type { ScreenStatusView } from '../../domain/records/screen-status.ts';

/** What a status has to know about the items of a playlist. */
export interface ItemFacts {
  longestItemMs: number;
  byCreative: ReadonlyMap<string, ItemFact>;
}

interface ItemFact extends Pick<Item, 'creativeUrl' | 'creativeType'> {
  name: string;
  host: string;
}

interface Item {
  creativeId: string;
  creativeUrl: string;
  creativeType: string;
  duration: number;
  name?: unknown;
}

export function itemFacts(itemsJson: string): ItemFacts {
  const items = JSON.parse(itemsJson) as Item[];
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
  facts: ItemFacts | undefined;
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
    case 'dark':
      return { code: 'no_calls', text: 'The TV does not call the service.' };
    case 'stopped':
      return { code: 'app_stopped', text: 'The app of the TV was stopped.' };
    case 'failing':
    case 'partly_failing':
      return failure(errors, facts);
    case 'asleep': {
      const awake = reasonOf({ judgement: { ...judgement, condition: asleepWith }, ...others });
      return { code: 'closed', text: `It is outside its hours. ${awake?.text}` };
    }
    case 'silent':
      return { code: 'no_plays', text: 'The TV calls, but no longer reports that it plays.' };
    case 'unconfirmed':
      return activity?.isPlayTimeGuessed
        ? { code: 'clock', text: 'The clock of the TV is wrong, so its plays cannot be dated.' }
        : activity?.lastPlayAt === undefined
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

/** The members of a status that say what is on the glass (docs/protocol.md §5.15). */
export function conditionView(
  input: Judged,
): Pick<ScreenStatusView, 'condition' | 'since' | 'reason' | 'playing' | 'clock' | 'errors'> {
  const { judgement, activity, facts } = input;
  const { condition, since, errors } = judgement;
  const { lastPlayAt, lastPlayId = null, clockOffsetMs } = activity ?? {};
  const factOf = (id: string | null) => facts?.byCreative.get(id ?? '');
  const played = factOf(lastPlayId);
  return {
    condition,
    since: since === null ? null : iso(since),
    reason: reasonOf(input),
    playing:
      lastPlayAt !== undefined && playing.includes(condition)
        ? {
            creativeId: lastPlayId,
            name: played?.name ?? null,
            creativeUrl: played?.creativeUrl ?? null,
            creativeType: played?.creativeType ?? null,
            since: iso(lastPlayAt),
          }
        : null,
    clock:
      clockOffsetMs != null && Math.abs(clockOffsetMs) > clockToleranceMs
        ? { offsetSeconds: Math.round(-clockOffsetMs / secondMs) }
        : null,
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
