import type { Clock } from '../../domain/clock.ts';
import { groupedCode } from '../options/pairing-code.ts';
import type { LiveLine, LiveViewSize } from '../terminal/live-view.ts';
import { blockLetters, type DrawQr } from './draw-code.ts';
import { modelText, versionText } from './pair-update.ts';
import { type Pairing, type PairSession, placeName } from './pairing.ts';
import { type Milestone, milestones } from './pairing-options.ts';

/** Formats the remaining time as minutes and seconds: `14:59`, `75:00`. */
export function countdown(endsAtMs: number, clock: Clock): string {
  const seconds = Math.max(0, Math.ceil((endsAtMs - clock.now()) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

const waiting: Record<Milestone, string> = {
  registered: 'waiting for the TV to register',
  playlist: 'waiting for the TV to fetch its playlist',
  event: 'waiting for the first event of the TV',
};
const later: Record<Milestone, string> = {
  registered: 'the TV registers',
  playlist: 'the TV fetches its playlist',
  event: 'the TV sends its first event',
};
const done: Record<Milestone, string> = {
  registered: 'registered',
  playlist: 'fetched its playlist',
  event: 'sent its first event',
};

function milestoneLines({ reached }: Pairing, waitFor: Milestone): LiveLine[] {
  const wanted = milestones.slice(0, milestones.indexOf(waitFor) + 1);
  const next = wanted.find((milestone) => !reached.includes(milestone));
  return wanted.map((milestone) => {
    if (reached.includes(milestone)) return { text: `✓ the TV ${done[milestone]}`, look: 'good' };
    return milestone === next
      ? { text: `● ${waiting[milestone]}` }
      : { text: `○ then ${later[milestone]}`, look: 'faint' };
  });
}

const blank: LiveLine = { text: '' };

/** Wraps text at word boundaries. The live view truncates words that are longer than a line. */
function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((one) => one !== '')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function codeLines(
  { code }: Pairing,
  clock: Clock,
  letters: readonly string[] | undefined,
): LiveLine[] {
  if (!code) return [{ text: 'Creating a code …' }, blank];
  const large: LiveLine[] = letters
    ? [...letters.map((text): LiveLine => ({ text, look: 'strong' })), blank]
    : [];
  const left = countdown(code.endsAtMs, clock);
  return [
    ...large,
    { text: `Code ${groupedCode(code.code)}`, look: 'strong' },
    { text: `Type it on the TV. ${left} left` },
    blank,
  ];
}

function sideBySide(left: readonly string[], right: readonly LiveLine[]): LiveLine[] {
  const width = left[0]?.length ?? 0;
  return Array.from({ length: Math.max(left.length, right.length) }, (_, at) => {
    const { text = '' } = right[at] ?? {};
    return {
      text: `${left[at] ?? ' '.repeat(width)}   ${text}`.trimEnd(),
      ...(left[at] !== undefined && { look: 'inverse' as const }),
    };
  });
}

const minColumnsBeside = 30;

/**
 * Adds the QR code above the text, or beside it. If neither fits, says how large the terminal must
 * be.
 */
function withQr(
  qr: readonly string[],
  lines: readonly LiveLine[],
  { columns, rows }: LiveViewSize,
): LiveLine[] {
  const width = (qr[0]?.length ?? 0) + 1;
  if (columns > width && qr.length + lines.length < rows)
    return [...qr.map((text): LiveLine => ({ text, look: 'inverse' })), blank, ...lines];
  if (columns > width + minColumnsBeside && qr.length < rows) return sideBySide(qr, lines);
  return [
    ...lines,
    {
      text: `Enlarge the window for the QR code: ${width + 1} columns, ${qr.length + lines.length + 1} rows.`,
    },
  ];
}

/** Renders the live view while one screen is paired. */
export function renderPairing(
  pairing: Pairing,
  { waitFor, call: { clock } }: PairSession,
  drawQr: DrawQr | undefined,
  size: LiveViewSize,
): LiveLine[] {
  const title: LiveLine = { text: placeName(pairing.place), look: 'strong' };
  const problem: LiveLine[] = wrapped(pairing.problem ?? '', size.columns - 1).map((text) => ({
    text,
    look: 'bad',
  }));
  const rest = [...milestoneLines(pairing, waitFor), ...problem];
  if (pairing.reached.length > 0) return [title, blank, ...rest];
  if (drawQr && pairing.code) {
    const lines = [title, ...codeLines(pairing, clock, undefined), ...rest];
    return withQr(drawQr(pairing.code.link), lines, size);
  }
  const letters = pairing.code && blockLetters(pairing.code.code, size.columns - 1);
  const large = [title, blank, ...codeLines(pairing, clock, letters), ...rest];
  return large.length < size.rows
    ? large
    : [title, ...codeLines(pairing, clock, undefined), ...rest];
}

/** Renders the lines that remain after a successful pairing. */
export function renderPaired(pairing: Pairing, waitFor: Milestone): LiveLine[] {
  const { deviceInfo } = pairing.device ?? {};
  const what =
    deviceInfo === undefined
      ? ''
      : [modelText(deviceInfo), versionText(deviceInfo)].filter((text) => text !== '').join(' · ');
  const word = waitFor === 'event' ? 'paired ✓' : `${done[waitFor]} ✓`;
  return [
    ...milestoneLines(pairing, waitFor),
    blank,
    { text: `${word} ${placeName(pairing.place)}${what && ` · ${what}`}`, look: 'good' },
  ];
}
