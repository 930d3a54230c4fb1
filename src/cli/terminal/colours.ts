import type { ChalkInstance } from 'chalk';
import { ownSequence } from './escape.ts';
import type { Io, Output } from './io.ts';

/** Style of a text. `inverse` is white on black, for QR codes. */
export type TextStyle = 'strong' | 'good' | 'faint' | 'bad' | 'warning' | 'inverse';
export type Painter = Record<TextStyle, (text: string) => string>;

const unchanged = (text: string) => text;
export const plainPainter: Painter = {
  strong: unchanged,
  good: unchanged,
  faint: unchanged,
  bad: unchanged,
  warning: unchanged,
  inverse: unchanged,
};

const hasColours = ({ env }: Pick<Io, 'env'>, stream: Output) =>
  stream.isTTY && !env.NO_COLOR && env.TERM !== 'dumb';

/** Loads `chalk`, whose sequences are marked as those of this program. */
async function loadStyles() {
  const { Chalk } = await import('chalk');
  const marked = (style: ChalkInstance) => {
    const [on = '', off = ''] = style('|').split('|');
    return (text: string) => (text === '' ? '' : ownSequence(on) + text + ownSequence(off));
  };
  return { chalk: new Chalk({ level: 1 }), marked };
}

/**
 * Returns functions that style text for a stream. They return the text unchanged if the stream is
 * not a terminal, or with `NO_COLOR` or `TERM=dumb`. Loads `chalk` only if needed.
 */
export async function makePainter(io: Pick<Io, 'env'>, stream: Output): Promise<Painter> {
  if (!hasColours(io, stream)) return plainPainter;
  const { chalk, marked } = await loadStyles();
  return {
    strong: marked(chalk.bold),
    good: marked(chalk.green),
    faint: marked(chalk.dim),
    bad: marked(chalk.red),
    warning: marked(chalk.yellow),
    inverse: marked(chalk.bgBlack.whiteBright),
  };
}

/**
 * Returns a function that gives a text one of six backgrounds by its place in a list. `null`: no
 * background. It returns the text unchanged where `makePainter` does.
 */
export async function makePalette(
  io: Pick<Io, 'env'>,
  stream: Output,
): Promise<(text: string, place: number | null) => string> {
  if (!hasColours(io, stream)) return unchanged;
  const { chalk, marked } = await loadStyles();
  const { black, dim } = chalk;
  const looks = [
    black.bgCyan,
    black.bgYellow,
    black.bgGreen,
    black.bgMagenta,
    black.bgWhite,
    black.bgRed,
  ].map(marked);
  const faint = marked(dim);
  return (text, place) =>
    place === null ? faint(text) : (looks[place % looks.length]?.(text) ?? text);
}
