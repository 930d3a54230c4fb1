import type { Screen } from '../../../client/entities.ts';
import { serviceAddress } from '../../../client/transport.ts';
import { secondMs } from '../../../domain/clock.ts';
import type { CommandContext } from '../../program/context.ts';
import { orUndefined } from '../../records/find.ts';
import { shellQuote } from '../../terminal/text.ts';
import { type DoctorFinding, warn } from './finding.ts';

const timeoutMs = 10 * secondMs;

/**
 * Returns a function that examines the web pages of a screen's playlist from this machine, each
 * page once. A player in a browser cannot see that a page forbids its frame, or answers 404.
 */
export function makePageChecks(call: CommandContext): (screen: Screen) => Promise<DoctorFinding[]> {
  const known = new Map<string, Promise<readonly string[]>>();

  async function examine(creativeUrl: string, storage: boolean): Promise<readonly string[]> {
    // Loaded on demand: few playlists have pages.
    const { checkPlaylistMedia } = await import('../../examination/check-media.ts');
    const { sendOptionsOf } = await import('../../examination/send-options.ts');
    const { url } = await call.profile();
    const items = [{ creativeUrl, creativeType: 'html' as const, storage }];
    const limits = { validUntil: null, maxSizeGB: Number.POSITIVE_INFINITY };
    const { findings } = await checkPlaylistMedia(
      [{ screen: null, shownOn: [], items, ...limits }],
      {
        ...(await sendOptionsOf(call, timeoutMs)),
        player: new URL(serviceAddress(url.value)),
        examine: call.examine,
      },
    );
    return findings
      .filter(({ level }) => level === 'error')
      .map(({ url: shown, detail, effect, advice }) => `${shown}: ${detail} ${effect} ${advice}`);
  }

  return async (screen) => {
    const reading = call.read('readPlaylist', { params: { id: screen.id } });
    const playlist = await orUndefined(reading, 'playlist_not_found');
    const pages = (playlist?.items ?? []).filter(({ creativeType }) => creativeType === 'html');
    const texts = await Promise.all(
      pages.map(({ creativeUrl, storage }) => {
        const key = `${storage === true} ${creativeUrl}`;
        const found = known.get(key) ?? examine(creativeUrl, storage === true);
        known.set(key, found);
        return found;
      }),
    );
    const next = `signage playlist check ${shellQuote(screen.id)}`;
    return [...new Set(texts.flat())].map((text) => warn('page', text, next));
  };
}
