import { groupedCode } from '../../options/pairing-code.ts';
import { type Pairing, placeName, placeWord } from '../pairing.ts';

function codeText({ place, code }: Pairing): string[] {
  if (!code || code.fate === 'expired') return [];
  const shown = groupedCode(code.code);
  if (code.fate === 'left')
    return [`The code ${shown} could not be cancelled; it is good until ${code.expiresAt}.`];
  if (code.fate === 'used')
    return [`A TV has registered on "${placeName(place)}" with the code ${shown}.`];
  return [`The code ${shown} is cancelled.`];
}

/** What stands when a pairing has ended before its time: for the person who wonders. */
export function standing(pairing: Pairing): string {
  const { place, device, code, reached } = pairing;
  const made = place.changes.length > 0 ? [`This stays: ${place.changes.join('; ')}.`] : [];
  if (device) {
    const what = reached.includes('playlist')
      ? 'has fetched its playlist, but sent no event yet'
      : 'has registered, but not fetched its playlist yet';
    return [
      ...made,
      `The TV on "${placeName(place)}" ${what}: signage device get ${device.id}`,
    ].join(' ');
  }
  const next =
    code?.fate === 'used'
      ? []
      : [`"${placeName(place)}" waits for a TV: signage pair ${placeWord(place)}`];
  return [...made, ...codeText(pairing), ...next].join(' ');
}
