import type { Clock } from '../../../domain/clock.ts';
import { largest } from '../../../domain/numbers/extremes.ts';
import { groupedCode } from '../../../domain/typed-code.ts';
import { blockLetters } from '../../terminal/draw-code.ts';
import type { PressedKey } from '../../terminal/keys.ts';
import { type LiveLine, type LiveViewSize, line } from '../../terminal/live-view.ts';
import { wrapText } from '../../terminal/wrap.ts';
import type { Pairing, PairSession } from './pairing.ts';
import { modelText } from './pairing.ts';
import { isPaired, type Milestone } from './pairing-options.ts';
import { countdown } from './render-pairing.ts';

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
type OpenPairing = Pairing & { code: NonNullable<Pairing['code']> };

/** Returns whether the code of the pairing still has to be typed on a TV. */
function isOpen(pairing: Pairing): pairing is OpenPairing {
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
function listedPairings(
  pairings: readonly Pairing[],
  { filter }: VenueSelection,
): readonly Pairing[] {
  const part = filter.toLowerCase();
  return pairings
    .filter(({ place }) => place.screen.name.toLowerCase().includes(part))
    .toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Returns the pairing whose code is shown in large letters. */
function currentPairing(
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
  { name = '', text }: PressedKey,
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

const nameColumns = 24;
/** Width of the marker, the code, the countdown and the longest state text. */
const otherColumns = 32;
/** Minimum number of list rows that must stay free below the large letters. */
const minListRows = 3;

function stateText(
  { state, reached, device, claim, code, followUp }: Pairing,
  waitFor: Milestone,
): string {
  if (state === 'failed') return 'failed';
  const model = device ? modelText(device.deviceInfo) : '';
  if (state === 'done')
    return [isPaired(waitFor) || followUp ? 'paired ✓' : 'done ✓', model]
      .filter((text) => text !== '')
      .join(' ');
  if (reached.includes('playlist')) return 'has playlist';
  if (reached.includes('registered')) return 'registered';
  if (code?.status === 'cancelled') return 'code cancelled';
  if (!code) return '…';
  return claim === undefined ? 'waiting' : 'offered';
}

function cut(text: string, columns: number): string {
  const characters = [...text];
  return characters.length <= columns
    ? text.padEnd(columns)
    : `${characters.slice(0, columns - 1).join('')}…`;
}

/** Renders the row of a screen, with `marker` in front. */
function rowOf(
  pairing: Pairing,
  { waitFor, call: { clock } }: PairSession,
  columns: number,
  marker: string,
): LiveLine {
  const isWaiting = isOpen(pairing);
  const name = cut(pairing.place.screen.name, columns);
  const code = groupedCode(pairing.claim ?? (isWaiting ? pairing.code.code : ''));
  const left = isWaiting ? countdown(pairing.code.endsAtMs, clock) : '';
  const text = `${marker}${name}  ${code.padEnd(9)}  ${left.padStart(5)}  `;
  const looks = { running: isWaiting ? 'strong' : undefined, done: 'good', failed: 'bad' } as const;
  return line(text + stateText(pairing, waitFor), looks[pairing.state]);
}

const blank = line('');

function largeCode(current: OpenPairing, clock: Clock, columns: number): LiveLine[] {
  const { code, endsAtMs } = current.code;
  const letters = blockLetters(code, columns - 1);
  if (!letters) return [];
  const left = countdown(endsAtMs, clock);
  return [
    line(`Type this code on the TV of "${current.place.screen.name}". ${left} left`),
    ...letters.map((text) => line(text, 'strong')),
    blank,
  ];
}

function titleOf(venue: string, pairings: readonly Pairing[]): LiveLine {
  const done = pairings.filter(({ state }) => state === 'done').length;
  return line(`${venue}: ${done} of ${pairings.length} paired`, 'strong');
}

function columnsOf(pairings: readonly Pairing[], size: Pick<LiveViewSize, 'columns'>): number {
  const longest = largest(pairings.map(({ place }) => [...place.screen.name].length));
  return Math.max(4, Math.min(longest, nameColumns, size.columns - otherColumns));
}

/** Returns the line that names the visible part of the list and the keys that change it. */
function footer(
  from: number,
  shown: number,
  listed: number,
  { filter }: VenueSelection,
  hasCodes: boolean,
): LiveLine {
  const range = shown < listed ? `${from + 1}–${from + shown} of ${listed}` : `${listed} listed`;
  const keys = filter === '' ? 'type to filter' : `filter: ${filter} · Esc shows all`;
  const arrows = hasCodes ? '↑↓ another code · ' : '';
  return line(`${arrows}${range} · ${keys}`, 'faint');
}

/**
 * Renders the live view while all screens of a venue are paired. It shows the current code, in
 * large letters if they fit, and the list page with that code. Without a current code, the footer
 * omits the arrow keys.
 */
export function renderVenue(
  venue: string,
  pairings: readonly Pairing[],
  session: PairSession,
  selection: VenueSelection,
  size: LiveViewSize,
): LiveLine[] {
  const listed = listedPairings(pairings, selection);
  const current = currentPairing(listed, selection);
  const delayed = [current, ...listed].find((one) => one?.problem !== undefined);
  const problem = delayed
    ? wrapText(`${delayed.place.screen.name}: ${delayed.problem}`, size.columns - 1).split('\n')
    : [];
  // The last row of the terminal stays empty. The title and the footer take one row each.
  const freeRows = Math.max(1, size.rows - 3 - problem.length);
  const large = current ? largeCode(current, session.call.clock, size.columns) : [];
  const letters = freeRows - large.length >= minListRows ? large : [];
  const pageRows = Math.max(1, freeRows - letters.length);
  const at = current ? listed.indexOf(current) : 0;
  const from = Math.floor(at / pageRows) * pageRows;
  const page = listed.slice(from, from + pageRows);
  const columns = columnsOf(pairings, size);
  return [
    titleOf(venue, pairings),
    ...letters,
    ...page.map((one) => rowOf(one, session, columns, one === current ? '› ' : '  ')),
    footer(from, page.length, listed.length, selection, current !== undefined),
    ...problem.map((text) => line(text, 'bad')),
  ];
}

/** Renders the lines that remain at the end: all screens, in the order of the service. */
export function renderVenueEnd(
  venue: string,
  pairings: readonly Pairing[],
  session: PairSession,
): LiveLine[] {
  const columns = columnsOf(pairings, { columns: 80 });
  return [titleOf(venue, pairings), ...pairings.map((one) => rowOf(one, session, columns, ''))];
}
