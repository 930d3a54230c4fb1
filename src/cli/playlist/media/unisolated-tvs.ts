import { forEachBounded } from '../../../domain/concurrency.ts';
import { pagesNotIsolated, webPlayerStarted } from '../../../domain/events/web-player-log.ts';
import type { CommandContext } from '../../command/context.ts';
import { recordsAtOnce } from '../../command/for-each-record.ts';
import type { Selected } from '../../options/select-screens.ts';
import { type MediaFinding, warning } from './finding.ts';

/** Number of newest `log` events of a TV in which its last start is looked for. */
const newestEvents = 100;

/** Returns whether a TV has reported since its last start that its browser isolates no pages. */
async function reportsNoIsolation(call: CommandContext, deviceId: string): Promise<boolean> {
  const query = { deviceId, type: 'log', limit: newestEvents };
  const { items } = await call.read('listEvents', { query });
  const messages = items.map(({ event }) => event.message);
  return (
    messages.find((one) => one === pagesNotIsolated || one === webPlayerStarted) ===
    pagesNotIsolated
  );
}

/** Finds the TVs of screens that a web page may freeze, in the order of the screens. */
export async function findUnisolatedTvs(
  call: CommandContext,
  screens: readonly Selected[],
): Promise<MediaFinding[]> {
  const found: MediaFinding[] = [];
  await forEachBounded(screens.entries(), recordsAtOnce, async ([at, { name, screen }]) => {
    if (screen.deviceId === null || !(await reportsNoIsolation(call, screen.deviceId))) return;
    const problem = warning('isolation', {
      detail: 'The browser of the TV does not isolate web pages.',
      effect: 'A loop in a page freezes the TV until its player is restarted.',
      advice: 'Show only pages that you trust, or use a newer browser. See docs/web-player.md.',
    });
    found[at] = { ...problem, screen: name, item: null, uses: 1, url: null };
  });
  return found.filter((finding) => finding !== undefined);
}
