import type { Device, Screen } from '../../../client/entities.ts';
import { SignageError } from '../../../domain/error.ts';
import type { CommandContext } from '../../program/context.ts';
import { createOrFind } from '../../records/find.ts';
import { span } from '../../terminal/text.ts';
import type { ChosenPlace } from './choose-place.ts';
import { modelText, type Place, placeArgument, placeName } from './pairing.ts';

const defaultReason = 'Replaced by another TV (signage pair)';

/** A device to revoke, and the reason for the audit trail. */
export interface Replacement {
  device: Device;
  reason: string;
}

/** Returns a description of a device: model, id and when it was last seen. */
export function describeDevice({ id, deviceInfo, online, lastSeenAt }: Device): string {
  const what = modelText(deviceInfo) || 'a device';
  return `${what} (${id}), ${online ? 'online' : `offline, last seen ${lastSeenAt ?? 'never'}`}`;
}

/** Warns of pending codes of the screens. Another person may be using them to pair the screens. */
export function warnOfOtherCodes(call: CommandContext, screens: readonly Screen[]): void {
  const pending = screens.flatMap(({ name, provisioningCode: newest }) =>
    newest?.status === 'pending'
      ? [`"${name}", ${span(call.clock.now() - Date.parse(newest.createdAt))} ago`]
      : [],
  );
  if (pending.length === 0) return;
  const shown = pending.slice(0, 3).join('; ');
  const more = pending.length > 3 ? `; and ${pending.length - 3} more` : '';
  call.note(
    `Another pairing code is pending: for ${shown}${more}. Somebody else may be pairing there. Use only the code that this command shows.`,
  );
}

/** Asks for the reason to revoke a device. */
function askReason({ prompter }: CommandContext, fallback: string): Promise<string> {
  return prompter.input({
    message: 'Reason (recorded in the audit trail):',
    flag: '--reason',
    initial: fallback,
  });
}

/**
 * Returns the device to replace if the screen is active. Without `--replace`, asks first. Throws
 * `declined` when the answer is no, and `screen_already_bound` when it cannot ask.
 */
export async function confirmReplacement(
  call: CommandContext,
  { venue, screen }: ChosenPlace,
): Promise<Replacement | undefined> {
  if (screen.id === undefined || screen.deviceId === null || venue.id === undefined)
    return undefined;
  const device = await call.read('getDevice', { params: { id: screen.deviceId } });
  const { reason = defaultReason, replace } = call.options;
  if (replace) return { device, reason };
  const place = { venue, screen, changes: [] };
  const what = `The screen "${placeName(place)}" already has a TV: ${describeDevice(device)}.`;
  if (!call.prompter.canAsk) {
    throw new SignageError('screen_already_bound', what, {
      hint: `To revoke it: signage pair ${placeArgument(place)} --replace`,
    });
  }
  call.note(what);
  if (
    !(await call.prompter.confirm({
      message: 'Revoke it and pair another TV?',
      flag: '--replace',
    }))
  ) {
    throw new SignageError('declined', 'Nothing was changed.');
  }
  return { device, reason: call.options.reason ?? (await askReason(call, defaultReason)) };
}

/**
 * Creates missing records and revokes the old device. Under `--dry-run`, missing records get
 * placeholders as ids.
 */
export async function preparePlace(
  call: CommandContext,
  chosen: ChosenPlace,
  replacement: Replacement | undefined,
): Promise<Place> {
  const changes: string[] = [];
  const recordChange = (what: string) => {
    if (call.common.dryRun) return;
    changes.push(what);
    call.note(`${what.charAt(0).toUpperCase()}${what.slice(1)}.`);
  };
  let venue: Place['venue'] = { id: '(the new venue)', ...chosen.venue };
  if (chosen.venue.id === undefined) {
    const { name } = chosen.venue;
    const { current, isNew } = await createOrFind(
      async () => (await call.change('createVenue', { body: { name } }))?.answer,
      (id) => call.read('getVenue', { params: { id } }),
    );
    venue = current ?? venue;
    if (isNew) recordChange(`the venue "${name}" was created`);
  }
  let screen: Place['screen'] = { id: '(the new screen)', ...chosen.screen };
  if (chosen.screen.id === undefined) {
    const { name } = chosen.screen;
    const { current, isNew } = await createOrFind(
      async () =>
        (await call.change('createScreen', { body: { venueId: venue.id, name } }))?.answer,
      (id) => call.read('getScreen', { params: { id } }),
    );
    screen = current ?? screen;
    if (isNew) recordChange(`the screen "${venue.name}/${name}" was created`);
  }
  if (replacement) {
    await call.change('revokeDevice', {
      params: { id: replacement.device.id },
      body: { reason: replacement.reason },
    });
    recordChange(`the device ${replacement.device.id} was revoked: ${replacement.reason}`);
  }
  return { venue, screen, changes };
}
