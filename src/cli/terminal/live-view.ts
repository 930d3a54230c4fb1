import { makePainter, type TextStyle } from './colours.ts';
import type { Environment } from './environment.ts';
import { escapeControl, ownSequence } from './escape.ts';
import { isForPeople, type OutputFormat } from './format.ts';
import type { Io } from './io.ts';
import { truncate } from './truncate.ts';

export interface LiveLine {
  text: string;
  /** Default: plain. */
  look?: TextStyle;
}

export const line = (text: string, look?: TextStyle): LiveLine => ({ text, ...(look && { look }) });

export interface LiveViewSize {
  columns: number;
  rows: number;
}

const redrawIntervalMs = 1000;
export const defaultSize: LiveViewSize = { columns: 80, rows: 24 };

interface TerminalSize {
  columns?: number;
  rows?: number;
  on?(event: 'resize', handle: () => void): unknown;
  off?(event: 'resize', handle: () => void): unknown;
}

interface Watcher {
  io: Io;
  common: {
    quiet: boolean;
    verbose: boolean;
    jq: string | undefined;
    output: OutputFormat | undefined;
  };
}

/**
 * Whether to draw a live view: `stderr` is a terminal, and no other output would break the view.
 */
export function isWatched({ io, common }: Watcher): boolean {
  // The lines of --verbose would break the view.
  if (!io.stderr.isTTY || common.quiet || common.verbose || io.env.TERM === 'dumb') return false;
  return (common.jq === undefined && isForPeople(common.output)) || !io.stdout.isTTY;
}

/**
 * Draws a few lines on a terminal (`stderr`) in place until they are closed: once a second, at each
 * call of `draw`, and when the terminal is resized.
 */
export async function openLiveView(
  { io, clock }: Pick<Environment, 'io' | 'clock'>,
  render: (size: LiveViewSize) => readonly LiveLine[],
) {
  const [{ default: width }, paint] = await Promise.all([
    import('string-width'),
    makePainter(io, io.stderr),
  ]);
  const screen = io.terminal().output as TerminalSize;
  let drawn: readonly number[] = [];
  let cancel = () => {};
  const size = () => ({
    columns: screen.columns || defaultSize.columns,
    rows: screen.rows || defaultSize.rows,
  });

  /**
   * Returns the control sequence that erases the view. A line that was drawn on a wider terminal
   * may now take several rows.
   */
  const erase = (columns: number) => {
    const rows = drawn.reduce((sum, one) => sum + Math.max(1, Math.ceil(one / columns)), 0);
    return ownSequence(rows === 0 ? '\r\u001b[J' : `\r\u001b[${rows}A\u001b[J`);
  };
  const write = (lines: readonly LiveLine[]) => {
    const { columns } = size();
    const shown = lines.map(({ text, look }) => ({
      text: truncate(escapeControl(text), columns - 1, width),
      look,
    }));
    const text = shown
      .map((line) => `${line.look ? paint[line.look](line.text) : line.text}\n`)
      .join('');
    io.stderr.write(erase(columns) + text);
    drawn = shown.map((line) => width(line.text));
  };
  const draw = () => {
    cancel();
    const now = size();
    write(render(now).slice(0, Math.max(1, now.rows - 1)));
    cancel = clock.after(redrawIntervalMs, draw);
  };
  screen.on?.('resize', draw);
  draw();
  return {
    draw,
    /** Erases the view, or replaces it by the lines of `last`. */
    close(last: readonly LiveLine[] = []): void {
      cancel();
      screen.off?.('resize', draw);
      write(last);
    },
  };
}

export type LiveView = Awaited<ReturnType<typeof openLiveView>>;
