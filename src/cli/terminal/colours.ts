import type { Io, Output } from './io.ts';

/** Style of a text. `inverse` is white on black, for QR codes. */
export type Look = 'strong' | 'good' | 'faint' | 'bad' | 'warning' | 'inverse';
export type Painter = Record<Look, (text: string) => string>;

const unchanged = (text: string) => text;
export const plainPainter: Painter = {
  strong: unchanged,
  good: unchanged,
  faint: unchanged,
  bad: unchanged,
  warning: unchanged,
  inverse: unchanged,
};

/**
 * Returns functions that style text for a stream. They return the text unchanged if the stream is
 * not a terminal, or with `NO_COLOR` or `TERM=dumb`. Loads `chalk` only if needed.
 */
export async function makePainter({ env }: Pick<Io, 'env'>, stream: Output): Promise<Painter> {
  if (!stream.isTTY || env.NO_COLOR || env.TERM === 'dumb') return plainPainter;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  return {
    strong: chalk.bold,
    good: chalk.green,
    faint: chalk.dim,
    bad: chalk.red,
    warning: chalk.yellow,
    inverse: chalk.bgBlack.whiteBright,
  };
}

/**
 * Returns a function that gives a text one of six backgrounds by its place in a list. `null`: no
 * background. It returns the text unchanged where `makePainter` does.
 */
export async function makePalette(
  { env }: Pick<Io, 'env'>,
  stream: Output,
): Promise<(text: string, place: number | null) => string> {
  if (!stream.isTTY || env.NO_COLOR || env.TERM === 'dumb') return unchanged;
  const { Chalk } = await import('chalk');
  const { black, dim } = new Chalk({ level: 1 });
  const looks = [
    black.bgCyan,
    black.bgYellow,
    black.bgGreen,
    black.bgMagenta,
    black.bgWhite,
    black.bgRed,
  ];
  return (text, place) =>
    place === null ? dim(text) : (looks[place % looks.length]?.(text) ?? text);
}
