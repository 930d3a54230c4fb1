import type { Screen } from '../../../client/entities.ts';
import { secondMs } from '../../../domain/clock.ts';
import type { CheckedItem, ItemFinding } from '../../examination/examine-first.ts';
import type { CommandContext } from '../../program/context.ts';
import { orUndefined } from '../../records/find.ts';
import { mapBounded } from '../../records/for-each-record.ts';
import { shellQuote } from '../../terminal/text.ts';
import { type DoctorFinding, warn } from './finding.ts';

const timeoutMs = 10 * secondMs;

/**
 * Returns a function that examines the URLs of a screen's playlist from this machine, each once. A
 * player in a browser cannot see that a page forbids its frame, or answers 404.
 */
export function makeUrlChecks(call: CommandContext): (screen: Screen) => Promise<DoctorFinding[]> {
  const known = new Map<string, Promise<readonly ItemFinding[]>>();

  async function examine(item: CheckedItem): Promise<readonly ItemFinding[]> {
    // Loaded on demand: not every playlist has URLs.
    const { examineUrls, foreignItems } = await import('../../examination/examine-first.ts');
    const { found, late } = await examineUrls(call, foreignItems([item]), timeoutMs);
    const text = `The media of ${item.creativeUrl.split('?', 1)} were not examined in 10 seconds.`;
    return late.length === 0 ? found : [{ item, level: 'warning', isFatal: false, text }];
  }

  return async (screen) => {
    const reading = call.read('readPlaylist', { params: { id: screen.id } });
    const items = (await orUndefined(reading, 'playlist_not_found'))?.items ?? [];
    const found = await mapBounded(items, (item) => {
      const key = `${item.creativeType} ${item.storage === true} ${item.creativeUrl}`;
      const finding = known.get(key) ?? examine(item);
      known.set(key, finding);
      return finding;
    });
    const next = `signage playlist check ${shellQuote(screen.id)}`;
    const texts = new Map(
      found.flat().map(({ text, item }) => [text, item.creativeType === 'html' ? 'page' : 'media']),
    );
    return [...texts].map(([text, check]) => warn(check, text, next));
  };
}
