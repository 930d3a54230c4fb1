import type { Key } from '../terminal/keys.ts';
import type { Pairing } from './pairing.ts';

/**
 * The selection that the person at the terminal has made with the keys. Mutable, because each
 * redraw reads it.
 */
export interface VenueSelection {
  /**
   * The pairing whose code is shown in large letters. Default: the first pairing with an open code.
   */
  selected: Pairing | undefined;
  /** Text to search for in the names of the screens. */
  filter: string;
}

/** A code together with the pairing that it belongs to. */
export type OpenPairing = Pairing & { code: NonNullable<Pairing['code']> };

/** Returns whether the code of the pairing still has to be typed on a TV. */
export function isOpen(pairing: Pairing): pairing is OpenPairing {
  return (
    pairing.claim === undefined &&
    pairing.state === 'running' &&
    pairing.reached.length === 0 &&
    pairing.code?.status === 'pending'
  );
}

function rankOf(pairing: Pairing): number {
  if (isOpen(pairing)) return 0;
  return pairing.state === 'running' ? 1 : 2;
}

/**
 * Returns the pairings that match the filter. Pairings with an open code come first, finished
 * pairings last.
 */
export function listedPairings(
  pairings: readonly Pairing[],
  { filter }: VenueSelection,
): readonly Pairing[] {
  const part = filter.toLowerCase();
  return pairings
    .filter(({ place }) => place.screen.name.toLowerCase().includes(part))
    .toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Returns the pairing whose code is shown in large letters. */
export function currentPairing(
  listed: readonly Pairing[],
  { selected }: VenueSelection,
): OpenPairing | undefined {
  const open = listed.filter(isOpen);
  return open.find((one) => one === selected) ?? open[0];
}

const pageRows = 10;
const steps: Readonly<Record<string, number>> = {
  up: -1,
  down: 1,
  pageup: -pageRows,
  pagedown: pageRows,
  home: Number.NEGATIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
};

/**
 * Handles a key. Navigation keys choose the code to show, Escape clears the filter, and other keys
 * edit it.
 */
export function handleKey(
  selection: VenueSelection,
  pairings: readonly Pairing[],
  { name = '', text }: Key,
): void {
  const step = Object.hasOwn(steps, name) ? steps[name] : undefined;
  if (step !== undefined) {
    const listed = listedPairings(pairings, selection);
    const open = listed.filter(isOpen);
    const current = currentPairing(listed, selection);
    const at = current ? open.indexOf(current) : 0;
    selection.selected = open[Math.min(Math.max(at + step, 0), open.length - 1)];
  } else if (name === 'escape') {
    selection.filter = '';
  } else if (name === 'backspace') {
    selection.filter = [...selection.filter].slice(0, -1).join('');
  } else if (text !== undefined) {
    selection.filter += text;
  }
}
