import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { findScreen } from '../records/find.ts';
import { placeArgument, placeName } from './pairing.ts';
import { readRights } from './place/pair-rights.ts';
import { askReason, describeDevice, type Replacement } from './place/prepare-place.ts';
import { type PairingOptions, pairAt } from './run-pair.ts';
import { requireVisibleCode } from './show-updates.ts';

const defaultReason = 'Replaced by another TV (signage device replace)';

/**
 * Runs `signage device replace`: revokes the TV of a screen and pairs another one. Nothing else of
 * the screen changes.
 */
export async function replaceDevice(
  call: CommandContext,
  named: string,
  options: PairingOptions & { reason: string | undefined },
): Promise<void> {
  await readRights(call);
  requireVisibleCode(call);
  const screen = await findScreen(call, named);
  const venue = await call.read('getVenue', { params: { id: screen.venueId } });
  const place = { venue, screen, changes: [] };
  if (screen.deviceId === null) {
    const message = `The screen "${placeName(place)}" has no TV to replace.`;
    throw new SignageError('device_not_found', message, {
      hint: `To pair one: signage pair ${placeArgument(place)}`,
    });
  }
  const device = await call.read('getDevice', { params: { id: screen.deviceId } });
  call.note(`The screen "${placeName(place)}" has this TV: ${describeDevice(device)}.`);
  await call.confirmDestruction('Revoke it and pair another TV?');
  const isAsked = call.prompter.canAsk && !call.common.yes && !call.common.dryRun;
  const reason = options.reason ?? (isAsked ? await askReason(call, defaultReason) : defaultReason);
  const replacement: Replacement = { device, reason };
  await pairAt(call, options, { venue, screen }, replacement);
}
