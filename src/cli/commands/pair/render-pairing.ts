import type { Clock } from '../../../domain/clock.ts';
import { groupedCode } from '../../../domain/typed-code.ts';
import { blockLetters, type DrawQr } from '../../terminal/draw-code.ts';
import { type LiveLine, type LiveViewSize, line } from '../../terminal/live-view.ts';
import { wrapText } from '../../terminal/wrap.ts';
import { modelText, type Pairing, type PairSession, placeName, versionText } from './pairing.ts';
import { isPaired, type Milestone, milestones, milestoneTexts } from './pairing-options.ts';
import { inBrowser } from './pairing-output.ts';

/** Formats the remaining time as minutes and seconds: `14:59`, `75:00`. */
export function countdown(endsAtMs: number, clock: Clock): string {
  const seconds = Math.max(0, Math.ceil((endsAtMs - clock.now()) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function milestoneLines({ reached }: Pairing, waitFor: Milestone): LiveLine[] {
  const wanted = milestones.slice(0, milestones.indexOf(waitFor) + 1);
  const next = wanted.find((milestone) => !reached.includes(milestone));
  return wanted.map((milestone) => {
    const { awaited, done } = milestoneTexts[milestone];
    if (reached.includes(milestone)) return line(`✓ the TV ${done}`, 'good');
    if (milestone === next) return line(`● waiting for the TV to ${awaited}`);
    return line(`○ then to ${awaited}`, 'faint');
  });
}

const blank = line('');

function codeLines(
  { code, claim }: Pairing,
  clock: Clock,
  letters: readonly string[] | undefined,
): LiveLine[] {
  if (claim !== undefined) {
    const left = code ? ` ${countdown(code.endsAtMs, clock)} left` : '';
    return [
      line(`The TV that shows ${groupedCode(claim)}`, 'strong'),
      line(`It may ask for confirmation: press OK on the TV.${left}`),
      blank,
    ];
  }
  if (!code) return [line('Creating a code …'), blank];
  const large = letters ? [...letters.map((text) => line(text, 'strong')), blank] : [];
  return [
    ...large,
    line(`Code ${groupedCode(code.code)}`, 'strong'),
    line(`Type it on the TV. ${countdown(code.endsAtMs, clock)} left`),
    blank,
  ];
}

function sideBySide(left: readonly string[], right: readonly LiveLine[]): LiveLine[] {
  const width = left[0]?.length ?? 0;
  return Array.from({ length: Math.max(left.length, right.length) }, (_, at) => {
    const { text = '' } = right[at] ?? {};
    const look = left[at] === undefined ? undefined : 'inverse';
    return line(`${left[at] ?? ' '.repeat(width)}   ${text}`.trimEnd(), look);
  });
}

const minColumnsBeside = 30;

/**
 * Adds the QR code above or beside the text. If it fits nowhere, adds the terminal size that it
 * needs. The lines of `below` need the whole width.
 */
function withQr(
  qr: readonly string[],
  lines: readonly LiveLine[],
  below: readonly LiveLine[],
  { columns, rows }: LiveViewSize,
): LiveLine[] {
  const text = [...lines, ...below];
  const width = (qr[0]?.length ?? 0) + 1;
  if (columns > width && qr.length + text.length < rows)
    return [...qr.map((row) => line(row, 'inverse')), blank, ...text];
  if (columns > width + minColumnsBeside && qr.length + below.length < rows)
    return [...sideBySide(qr, lines), ...below];
  const needs = `${width + 1} columns, ${qr.length + text.length + 1} rows`;
  return [...text, line(`Enlarge the window for the QR code: ${needs}.`)];
}

/** Renders the live view while one screen is paired. */
export function renderPairing(
  pairing: Pairing,
  { waitFor, playerLinkOf, call: { clock } }: PairSession,
  drawQr: DrawQr | undefined,
  size: LiveViewSize,
): LiveLine[] {
  const title = line(placeName(pairing.place), 'strong');
  const problem = pairing.problem && wrapText(pairing.problem, size.columns - 1);
  const rest = [
    ...milestoneLines(pairing, waitFor),
    ...(problem ? problem.split('\n').map((text) => line(text, 'bad')) : []),
  ];
  if (pairing.reached.length > 0) return [title, blank, ...rest];
  if (drawQr && pairing.code) {
    const lines = [title, ...codeLines(pairing, clock, undefined), ...rest];
    const link = playerLinkOf?.(pairing.code.code);
    const below = link === undefined ? [] : [line(inBrowser(link))];
    return withQr(drawQr(pairing.code.link), lines, below, size);
  }
  const letters =
    pairing.claim === undefined &&
    pairing.code &&
    blockLetters(pairing.code.code, size.columns - 1);
  const large = [title, blank, ...codeLines(pairing, clock, letters || undefined), ...rest];
  return large.length < size.rows
    ? large
    : [title, ...codeLines(pairing, clock, undefined), ...rest];
}

/** Renders the lines that remain after a successful pairing. */
export function renderPaired(pairing: Pairing, waitFor: Milestone): LiveLine[] {
  const info = pairing.device?.deviceInfo;
  const word = isPaired(waitFor) || pairing.followUp ? 'paired' : milestoneTexts[waitFor].done;
  const texts = [
    `${word} ✓ ${placeName(pairing.place)}`,
    info && modelText(info),
    info && versionText(info),
  ];
  const last = line(texts.filter(Boolean).join(' · '), 'good');
  return [...milestoneLines(pairing, waitFor), blank, last];
}
