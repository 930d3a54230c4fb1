import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { type Selected, selectionFilters, selectScreens } from '../options/select-screens.ts';
import { countText } from '../records/text.ts';
import { screensOfVenueView, screensView } from '../records/views/place-views.ts';
import { Delivery, type DeliveryTarget, namesText } from './delivery.ts';

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
  await new Delivery(call, { targets, filters, what }).wait(call.options.timeout);
  const { screens: present, single } = await selectScreens(call, names);
  if (single)
    return call.results.record(single.screen, screensOfVenueView(call, single.screen.venueId));
  await call.results.list([present.map(({ screen }) => screen)], screensView(call));
}
