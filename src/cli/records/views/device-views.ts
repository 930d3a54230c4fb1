import type { CallAnswer } from '../../../client/call.ts';
import type { Claim, CodeStatus, Device, PairingCode, Ticket } from '../../../client/entities.ts';
import { groupedCode } from '../../../domain/typed-code.ts';
import type { ServiceReader } from '../../connection/client.ts';
import { type Column, member, members, type View, wideMembers } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { isForPeople } from '../../terminal/format.ts';
import { screenPathById, screenPaths, venueNames } from '../names.ts';

const info = (name: keyof Device['deviceInfo'], more: { wide?: boolean } = {}): Column<Device> => ({
  name,
  value: ({ deviceInfo }) => deviceInfo[name],
  ...more,
});

const wideInfo = [
  'manufacturer',
  'osVersion',
  'deviceName',
  'locationHint',
  'macAddress',
  'ipAddress',
] as const;

function deviceView(nameOfScreen: (screenId: string) => string): View<Device> {
  return {
    columns: [
      { name: 'screen', value: ({ screenId }) => nameOfScreen(screenId) },
      info('model'),
      info('appVersion'),
      ...members<Device>('state', 'online', 'lastSeenAt'),
      ...wideMembers<Device>('id', 'screenId'),
      ...wideInfo.map((name) => info(name, { wide: true })),
      ...wideMembers<Device>(
        'lastAddress',
        'lastPlaylistAt',
        'lastPlaylistVersion',
        'lastPlaylistStatus',
        'lastConfigAt',
        'lastEventAt',
        'lastRefusedAt',
        'lastSeq',
        'missingEvents',
        'conflictingEvents',
        'suspendedAt',
        'suspendReason',
        'createdAt',
        'simulated',
      ),
    ],
    nameOf: ({ id }) => id,
  };
}

/** Returns the view of devices of a venue, or of all devices. Fetches the names of the screens. */
export const devicesView =
  (reader: ServiceReader, venueId?: string) => async (): Promise<View<Device>> => {
    const names = await screenPaths(reader, venueId);
    return deviceView((screenId) => names.get(screenId) ?? screenId);
  };

/** Returns the view of the devices of one screen. Fetches the name of the screen. */
export const devicesOfScreenView =
  (reader: ServiceReader, screenId: string) => async (): Promise<View<Device>> => {
    const name = await screenPathById(reader, screenId);
    return deviceView(() => name);
  };

/** The view of a revocation. `screen` is the full name of the device's screen. */
export const revocationView = (screen: string): View<CallAnswer<'revokeDevice'>> => ({
  columns: [
    { name: 'screen', value: () => screen },
    { name: 'screenState', value: ({ screen: { state } }) => state },
    { name: 'device', value: ({ device }) => device.id },
    { name: 'deviceState', value: ({ device }) => device.state },
    { name: 'suspendedAt', value: ({ device }) => device.suspendedAt },
    { name: 'suspendReason', value: ({ device }) => device.suspendReason },
  ],
  nameOf: ({ device }) => device.id,
});

/** The view of the TV that shows a claim. */
export const claimView: View<Claim> = {
  columns: [
    { name: 'claim', value: ({ claim }) => claim, shown: ({ claim }) => groupedCode(claim) },
    member('status'),
    ...(['manufacturer', 'model', 'serial', 'appVersion', 'osVersion', 'deviceName'] as const).map(
      (name): Column<Claim> => ({ name, value: ({ deviceInfo }) => deviceInfo[name] }),
    ),
    ...members<Claim>('address', 'createdAt', 'expiresInSeconds'),
  ],
  nameOf: ({ claim }) => claim,
};

/** Returns the view of the TVs that wait with tickets. Fetches the names of screens and venues. */
export const waitingView = (reader: ServiceReader) => async (): Promise<View<Claim>> => {
  const [venues, screens] = await Promise.all([venueNames(reader), screenPaths(reader)]);
  return {
    columns: [
      { name: 'claim', value: ({ claim }) => claim, shown: ({ claim }) => groupedCode(claim) },
      { name: 'venue', value: ({ venueId }) => venues.get(venueId ?? '') ?? venueId },
      { name: 'model', value: ({ deviceInfo }) => deviceInfo.model },
      { name: 'serial', value: ({ deviceInfo }) => deviceInfo.serial },
      {
        name: 'forScreen',
        value: ({ expectedScreenId }) => screens.get(expectedScreenId ?? '') ?? null,
      },
      ...members<Claim>('status', 'address', 'createdAt'),
      ...wideMembers<Claim>('ticketId', 'expiresInSeconds'),
    ],
    nameOf: ({ claim }) => claim,
  };
};

/** Returns the view of tickets. Fetches the names of screens and venues. */
export const ticketsView = (reader: ServiceReader) => async (): Promise<View<Ticket>> => {
  const [venues, screens] = await Promise.all([venueNames(reader), reader.all('listScreens')]);
  const names = new Map(screens.map(({ id, name }) => [id, name]));
  const screenOf = ({ screenId }: Ticket) => screenId && (names.get(screenId) ?? screenId);
  return {
    columns: [
      { name: 'venue', value: ({ venueId }) => venues.get(venueId) ?? venueId },
      { name: 'screen', value: screenOf, shown: (ticket) => screenOf(ticket) ?? 'shared' },
      ...members<Ticket>('status', 'used', 'uses', 'expiresAt', 'id'),
      ...wideMembers<Ticket>('createdAt'),
    ],
    nameOf: ({ id }) => id,
  };
};

/** Returns the columns that all views of a code share. */
async function codeColumns(call: CommandContext, screenId: string): Promise<Column<PairingCode>[]> {
  const screen = await screenPathById(call, screenId);
  const isShown = isForPeople(call.common.output);
  return [
    { name: 'code', value: ({ code }) => (isShown ? groupedCode(code) : code) },
    { name: 'screen', value: () => screen },
    ...members<PairingCode>('status', 'expiresAt', 'expiresInSeconds'),
    ...wideMembers<PairingCode>('screenId', 'createdAt'),
  ];
}

const nameOf = ({ code }: PairingCode) => code;

/** The columns of the codes that one command creates for several screens. */
export function codeResultColumns({
  common: { output },
}: CommandContext): readonly Column<{ code: string | null; expiresAt: string | null }>[] {
  const shown = (code: string | null) => (code && isForPeople(output) ? groupedCode(code) : code);
  return [{ name: 'code', value: ({ code }) => shown(code) }, member('expiresAt')];
}

/** The view of a new code. */
export const createdCodeView =
  (call: CommandContext, { screenId }: PairingCode) =>
  async (): Promise<View<PairingCode>> => ({ columns: await codeColumns(call, screenId), nameOf });

export const codeStatusView =
  (call: CommandContext, { screenId }: CodeStatus) =>
  async (): Promise<View<CodeStatus>> => ({
    columns: [...(await codeColumns(call, screenId)), ...members<CodeStatus>('usedAt', 'deviceId')],
    nameOf,
  });
