import type { Pairing } from './pairing.ts';
import type { Milestone } from './pairing-options.ts';

/** `code` repeats for each new code after an expired one. */
type Step = 'code' | Milestone | 'paired' | 'failed';

/**
 * Returns the update for a step that was just reached, printed as one line with `-o ndjson`. All
 * members are present. Unknown values are `null`.
 */
export function makeUpdate(
  { place: { venue, screen }, claim, code, device }: Pairing,
  step: Step,
  at: string,
  error: string | null = null,
) {
  const info = device?.deviceInfo;
  return {
    step,
    at,
    venue: venue.name,
    screen: screen.name,
    venueId: venue.id,
    screenId: screen.id,
    claim: claim ?? null,
    code: code?.code ?? null,
    expiresAt: code?.expiresAt ?? null,
    /** The text that the QR code encodes. */
    link: code?.link ?? null,
    deviceId: device?.id ?? null,
    manufacturer: info?.manufacturer ?? null,
    model: info?.model ?? null,
    appVersion: info?.appVersion ?? null,
    osVersion: info?.osVersion ?? null,
    playlistVersion: device?.lastPlaylistVersion ?? null,
    error,
  };
}

export type PairUpdate = ReturnType<typeof makeUpdate>;

type Info = Pick<PairUpdate, 'manufacturer' | 'model' | 'appVersion' | 'osVersion'>;

/** Formats manufacturer and model: `Samsung QM55B`. */
export function modelText({ manufacturer, model }: Info): string {
  return [manufacturer, model].filter((text) => text).join(' ');
}

/** Formats the versions of the app and the operating system: `2.3.1, Tizen 6.5`. */
export function versionText({ appVersion, osVersion }: Info): string {
  return [appVersion, osVersion].filter((text) => text).join(', ');
}
