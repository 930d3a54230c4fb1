import type { Clock } from '../../domain/clock.ts';
import { groupedCode } from '../options/pairing-code.ts';
import type { LiveLine, LiveViewSize } from '../terminal/live-view.ts';
import { modelText } from './pair-update.ts';
import type { Pairing, PairSession } from './pairing.ts';
import type { Milestone } from './pairing-options.ts';
import { countdown } from './render-pairing.ts';

const nameColumns = 24;
/** Width of the code, the countdown and the longest state text. */
const otherColumns = 30;

function stateText({ state, reached, device, code }: Pairing, waitFor: Milestone): string {
  if (state === 'failed') return 'failed';
  const model = device ? modelText(device.deviceInfo) : '';
  if (state === 'done')
    return [waitFor === 'event' ? 'paired ✓' : 'done ✓', model]
      .filter((text) => text !== '')
      .join(' ');
  if (reached.includes('playlist')) return 'has playlist';
  if (reached.includes('registered')) return 'registered';
  return code ? 'waiting' : '…';
}

function cut(text: string, columns: number): string {
  const characters = [...text];
  return characters.length <= columns
    ? text.padEnd(columns)
    : `${characters.slice(0, columns - 1).join('')}…`;
}

function rowOf(pairing: Pairing, waitFor: Milestone, clock: Clock, columns: number): LiveLine {
  const { code, state, reached } = pairing;
  const isOpen = state === 'going' && reached.length === 0 && code !== undefined;
  const name = cut(pairing.place.screen.name, columns);
  const text = `${name}  ${(isOpen ? groupedCode(code.code) : '').padEnd(9)}  ${(isOpen ? countdown(code.endsAtMs, clock) : '').padStart(5)}  `;
  const look = { going: 'strong', done: 'good', failed: 'bad' } as const;
  return {
    text: text + stateText(pairing, waitFor),
    ...((state !== 'going' || isOpen) && { look: look[state] }),
  };
}

/**
 * Renders the live view while all screens of a venue are paired. If the rows do not fit, unfinished
 * screens come first.
 */
export function renderVenue(
  venue: string,
  pairings: readonly Pairing[],
  { waitFor, call: { clock } }: PairSession,
  size: LiveViewSize,
): LiveLine[] {
  const done = pairings.filter(({ state }) => state === 'done').length;
  const longest = Math.max(...pairings.map(({ place }) => [...place.screen.name].length));
  const columns = Math.max(4, Math.min(longest, nameColumns, size.columns - otherColumns));
  const title: LiveLine = {
    text: `${venue}: ${done} of ${pairings.length} paired`,
    look: 'strong',
  };
  const problem = pairings.find((one) => one.problem !== undefined);
  const last: LiveLine[] = problem
    ? [{ text: `${problem.place.screen.name}: ${problem.problem}`, look: 'bad' }]
    : [];
  const room = Math.max(1, size.rows - 3 - last.length);
  const rows =
    pairings.length <= room
      ? pairings
      : pairings
          .toSorted((a, b) => Number(a.state !== 'going') - Number(b.state !== 'going'))
          .slice(0, Math.max(1, room - 1));
  const rest: LiveLine[] =
    rows.length < pairings.length
      ? [{ text: `… and ${pairings.length - rows.length} more`, look: 'faint' }]
      : [];
  return [title, ...rows.map((one) => rowOf(one, waitFor, clock, columns)), ...rest, ...last];
}
