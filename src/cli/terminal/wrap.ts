import { Help } from 'commander';
import { largest } from '../../domain/numbers/extremes.ts';
import { escapeControl } from './escape.ts';
import type { Output } from './io.ts';

const help = Object.assign(new Help(), { minWidthToWrap: 1 });

/** Wraps a text at word boundaries. Keeps a word that is longer than a line. */
export const wrapText = (text: string, columns: number): string => help.boxWrap(text, columns);

/**
 * Wraps a text that begins in the column `indent`, and indents its further lines. Without
 * `columns`, it stays on one line.
 */
export function wrapIndented(text: string, indent: number, columns: number | undefined): string {
  if (columns === undefined) return text;
  return wrapText(text, columns - indent).replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/**
 * Escapes a message and writes it as one paragraph, wrapped at the width of the terminal. `start`
 * precedes the first line. Further lines are indented by `indent` columns.
 */
export function writeMessage(
  output: Output,
  text: string,
  start = '',
  indent = start.length,
): void {
  const columns = output.isTTY ? output.columns : undefined;
  output.write(`${start}${wrapIndented(escapeControl(text), indent, columns)}\n`);
}

/** Formats rows as two aligned columns. Wraps the second one at `columns`, if given. */
export function pairs(rows: readonly (readonly [string, string])[], columns?: number): string {
  const indent = largest(rows.map(([label]) => label.length)) + 2;
  return rows
    .map(
      ([label, text]) =>
        `${label.padEnd(indent)}${wrapIndented(escapeControl(text), indent, columns)}\n`,
    )
    .join('');
}
