import type { Device } from '../../../client/entities.ts';
import { dayMs } from '../../../domain/clock.ts';
import { countText } from '../../terminal/text.ts';
import { type DoctorFinding, fail, ok, warn } from './finding.ts';
import type { ScreenContext } from './glass-checks.ts';

/** A revoked TV that has not called for this long is assumed to be switched off or removed. */
const recentMs = 7 * dayMs;

const codeTexts: Readonly<Record<string, string>> = {
  expired: 'The last pairing code has expired',
  cancelled: 'The last pairing code was cancelled',
  used: 'The last pairing code was used, but its TV was removed',
};

function tvName({ id, deviceInfo }: Device): string {
  const { manufacturer, model, deviceName } = deviceInfo;
  return (
    deviceName ??
    ([manufacturer, model].filter((text) => text !== null && text !== undefined).join(' ') || id)
  );
}

/** Finds revoked TVs of a screen that still call the service. `next` is the command to suggest. */
export async function checkFormerTvs(
  { reader, screen: { id: screenId }, nowMs, ago }: ScreenContext,
  next: string,
): Promise<DoctorFinding[]> {
  const devices = await reader.all('listDevices', { query: { screenId, state: 'suspended' } });
  return devices.flatMap((device) => {
    const { lastRefusedAt, lastAddress } = device;
    if (lastRefusedAt === null || nowMs - Date.parse(lastRefusedAt) > recentMs) return [];
    const where = lastAddress === null ? '' : ` Its address was ${lastAddress}.`;
    const what = `The revoked TV ${tvName(device)} (${device.id}) still calls the service with its old key, last at ${ago(lastRefusedAt)}.`;
    return [warn('former', `${what}${where} Switch it off, or pair it again.`, next)];
  });
}

/** Checks the pairing code of a screen without a TV. */
export function checkCode({ screen, quotedName, ago }: ScreenContext): DoctorFinding {
  const code = screen.provisioningCode;
  const pair = `signage pair ${quotedName}`;
  if (code === null) return fail('code', 'There is no pairing code.', pair);
  if (code.status === 'pending')
    return warn(
      'code',
      `A pairing code waits for a TV. It expires at ${ago(code.expiresAt)}.`,
      pair,
    );
  const when = code.status === 'expired' ? `: ${ago(code.expiresAt)}` : '';
  return fail(
    'code',
    `${codeTexts[code.status] ?? `The last pairing code is ${code.status}`}${when}.`,
    pair,
  );
}

/** Reports the last TV of a screen that has no current TV. */
export async function checkFormerDevice({
  reader,
  screen,
  quotedName,
  ago,
}: ScreenContext): Promise<DoctorFinding> {
  const pair = `signage pair ${quotedName}`;
  const devices = await reader.all('listDevices', { query: { screenId: screen.id } });
  const [last] = devices.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
  if (last === undefined) return fail('device', 'No TV has ever registered for this screen.', pair);
  const reason = last.suspendReason === null ? '' : ` ("${last.suspendReason}")`;
  const when = last.suspendedAt === null ? '' : ` at ${ago(last.suspendedAt)}`;
  return fail('device', `Its TV was revoked${when}${reason}. No other TV has registered.`, pair);
}

export function checkDevice({ quotedName, ago }: ScreenContext, device: Device): DoctorFinding {
  const what = tvName(device);
  const seen =
    device.lastSeenAt === null ? 'it was never seen' : `last seen ${ago(device.lastSeenAt)}`;
  if (device.online) return ok('device', `${what} is online, ${seen}.`);
  const where = device.lastAddress === null ? '' : ` from ${device.lastAddress}`;
  return fail(
    'device',
    `${what} is offline: ${seen}${where}. Check its power and network.`,
    `signage wait device ${quotedName}`,
  );
}

/** Checks the sequence numbers of the TV's events (docs/protocol.md §5.3). */
export function checkNumbers({ quotedName }: ScreenContext, device: Device): DoctorFinding[] {
  const { lastSeq, missingEvents = 0, conflictingEvents = 0 } = device;
  const look = `signage device get ${quotedName} -o wide`;
  if (conflictingEvents > 0) {
    const what = `${countText(conflictingEvents, 'event')} had the number of another event. Two TVs may use one key, such as a copy of a disk image, or the TV has lost its count.`;
    return [warn('numbers', `${what} Revoke it and pair each TV by itself.`, look)];
  }
  if (missingEvents > 0) {
    const what = `${countText(missingEvents, 'event')} of ${lastSeq} never arrived.`;
    return [warn('numbers', `${what} The TV has given them up, or has not sent them yet.`, look)];
  }
  return [];
}

export function checkEvents(
  { quotedName, nowMs, ago }: ScreenContext,
  { lastEventAt: at, online }: Device,
): DoctorFinding {
  const follow = `signage event list --screen ${quotedName} --follow`;
  if (at === null)
    return warn('events', 'The TV has sent no event, so nothing shows that it plays.', follow);
  const last = `The last event arrived ${ago(at)}`;
  return online && nowMs - Date.parse(at) > dayMs
    ? warn('events', `${last}. Check that it still plays.`, follow)
    : ok('events', `${last}.`);
}
