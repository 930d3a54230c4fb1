import type { Device } from '../../client/entities.ts';
import { secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../program/context.ts';
import { type Selected, selectionFilters, selectScreens } from '../records/select-screens.ts';
import { screensOfVenueView, screensView } from '../records/views/place-views.ts';
import { countText } from '../terminal/text.ts';
import { namesText, type TvGoal, TvWait } from './tv-wait.ts';

/** A screen, and the playlist version that its TV should get. */
interface DeliveryTarget {
  id: string;
  name: string;
  version: number;
}

/**
 * - `current`: the TV was given the version, or a newer one.
 * - `online`, `offline`: the TV was not given it, and is online or offline.
 * - `none`: the screen has no TV.
 */
export type TvState = 'current' | 'online' | 'offline' | 'none';
export type Delivery = TvWait<DeliveryTarget, Device, TvState>;

function stateOf(device: Device | undefined, { version }: DeliveryTarget): TvState {
  if (!device) return 'none';
  if ((device.lastPlaylistVersion ?? 0) >= version) return 'current';
  return device.online ? 'online' : 'offline';
}

/** Makes the wait until TVs have been given a playlist version. */
export function makeDelivery(
  call: CommandContext,
  wanted: Pick<TvGoal<DeliveryTarget, Device, TvState>, 'targets' | 'filters' | 'what'>,
): Delivery {
  return new TvWait(call, {
    ...wanted,
    does: 'have it',
    pollMs: secondMs,
    pages: (query) => call.pages('listDevices', { query: { ...query, state: 'bound' } }),
    screenIdOf: ({ screenId }) => screenId,
    stateOf,
    reached: ['current'],
    missing: [
      ['offline', 'offline'],
      ['online', 'online, but not fetched yet'],
      ['none', 'without a TV'],
    ],
    describe: (count, total) =>
      `${count('current').toLocaleString('en')} of ${countText(total, 'TV')} ${total === 1 ? 'has' : 'have'} ${wanted.what}.`,
    advice: 'The same command waits again. ',
  });
}

/**
 * Returns the screens with their active versions. Prints a note about screens that have none.
 * Throws `playlist_not_found` if no screen has one.
 */
async function latestVersions(
  call: CommandContext,
  screens: readonly Selected[],
): Promise<DeliveryTarget[]> {
  const query = selectionFilters(call, screens);
  const statuses = screens.length === 0 ? [] : await call.all('listScreenStatus', { query });
  const versions = new Map(
    statuses.flatMap(({ screen, playlist }) =>
      playlist?.status === 'active' ? [[screen.id, playlist.version]] : [],
    ),
  );
  const targets = screens.flatMap(({ id, name }) => {
    const version = versions.get(id);
    return version === undefined ? [] : [{ id, name, version }];
  });
  const without = screens.filter(({ id }) => !versions.has(id));
  if (without.length === 0) return targets;
  const text = `${countText(without.length, 'screen')} without a playlist: ${namesText(without)}.`;
  if (targets.length === 0) throw new SignageError('playlist_not_found', text);
  call.note(text);
  return targets;
}

/** Waits until the TVs of the screens have been given a playlist version. Prints the screens. */
export async function waitForVersion(
  call: CommandContext,
  names: readonly string[],
  version: number | 'latest',
): Promise<void> {
  const { screens } = await selectScreens(call, names);
  const targets =
    version === 'latest'
      ? await latestVersions(call, screens)
      : screens.map(({ id, name }) => ({ id, name, version }));
  const filters = selectionFilters(call, screens);
  const what = version === 'latest' ? 'the latest version' : `version ${version}`;
  const delivery = makeDelivery(call, { targets, filters, what });
  await delivery.wait(call.options.timeout);
  if (targets.length > 1) call.note(delivery.summary());
  const { screens: present, single } = await selectScreens(call, names);
  if (single)
    return call.results.record(single.screen, screensOfVenueView(call, single.screen.venueId));
  await call.results.list([present.map(({ screen }) => screen)], screensView(call));
}
