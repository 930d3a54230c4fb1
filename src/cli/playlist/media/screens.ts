import { forEachBounded } from '../../../domain/concurrency.ts';
import { hasCode } from '../../../domain/error.ts';
import { type ConfigBody, effectiveConfig } from '../../../domain/records/config.ts';
import type { CommandContext } from '../../command/context.ts';
import { recordsAtOnce } from '../../command/for-each-record.ts';
import { memoize } from '../../command/memoize.ts';
import { type Selected, type Selection, selectScreens } from '../../options/select-screens.ts';
import { venueNames } from '../../records/names.ts';
import { countText } from '../../records/text.ts';
import { getConfig, type Level } from '../../tenant-config/level.ts';
import { progressBar, withProgress } from '../../terminal/progress.ts';
import type { CheckedPlaylist } from './check-media.ts';

/** Returns all screens of the tenant. */
async function allScreens(call: CommandContext): Promise<Selected[]> {
  const screens = await call.all('listScreens');
  const venues = await venueNames(call);
  return screens.map((screen) => ({
    id: screen.id,
    name: `${venues.get(screen.venueId) ?? screen.venueId}/${screen.name}`,
    screen,
  }));
}

/** Returns the screens that the arguments and options of a command name. */
export async function namedScreens(
  call: CommandContext,
  names: readonly string[],
): Promise<Selection> {
  if (!call.options.all) return selectScreens(call, names);
  return { screens: await allScreens(call), single: undefined };
}

const unlimited: ConfigBody = { cachePolicy: { maxSizeGB: Number.POSITIVE_INFINITY } };

/** Returns a function that reads the `cachePolicy.maxSizeGB` of a screen, in gigabytes. */
function sizeLimits(call: CommandContext): (screen: Selected) => Promise<number> {
  const configs = new Map<string, () => Promise<ConfigBody | undefined>>();
  const read = async (level: Level, id: string) => {
    try {
      return (await getConfig(call, { level, id })) as ConfigBody;
    } catch (error) {
      if (hasCode(error, 'config_not_found')) return undefined;
      // A token that is bound to venues does not see the config of its tenant.
      if (hasCode(error, 'tenant_not_found')) return unlimited;
      throw error;
    }
  };
  const shared = (level: Level, id: string) => {
    const config = configs.get(id) ?? memoize(() => read(level, id));
    configs.set(id, config);
    return config();
  };
  return async ({ screen: { id, venueId, tenantId } }) => {
    const levels = [
      await shared('tenant', tenantId),
      await shared('venue', venueId),
      await read('screen', id),
    ];
    return effectiveConfig(levels).cachePolicy.maxSizeGB;
  };
}

/**
 * Reads the current playlist of each screen. Leaves screens without a playlist out. Throws
 * `playlist_not_found` if the command names only one screen, and it has none.
 */
export async function publishedPlaylists(
  call: CommandContext,
  { screens, single }: Selection,
): Promise<CheckedPlaylist[]> {
  const limitOf = sizeLimits(call);
  const playlists: (CheckedPlaylist | undefined)[] = [];
  let done = 0;
  await withProgress(call, (show) =>
    forEachBounded(screens.entries(), recordsAtOnce, async ([at, one]) => {
      try {
        const { items, validUntil } = await call.read('readPlaylist', { params: { id: one.id } });
        const maxSizeGB = await limitOf(one);
        playlists[at] = { screen: one.name, shownOn: [one], items, validUntil, maxSizeGB };
      } catch (error) {
        if (single || !hasCode(error, 'playlist_not_found')) throw error;
      }
      show(`Reading ${progressBar(++done, screens.length)}`);
    }),
  );
  const found = playlists.filter((playlist) => playlist !== undefined);
  const missing = screens.length - found.length;
  if (missing > 0) call.note(`${countText(missing, 'screen')} without a playlist left out.`);
  return found;
}

/** Returns the smallest limit of these screens, in gigabytes. `Infinity` without screens. */
export async function smallestLimit(
  call: CommandContext,
  screens: readonly Selected[],
): Promise<number> {
  const limitOf = sizeLimits(call);
  let smallest = Number.POSITIVE_INFINITY;
  await forEachBounded(screens, recordsAtOnce, async (screen) => {
    smallest = Math.min(smallest, await limitOf(screen));
  });
  return smallest;
}
