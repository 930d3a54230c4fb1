import type { Look, Painter } from '../terminal/colours.ts';
import { escapeControl } from '../terminal/escape.ts';
import type { Output } from '../terminal/io.ts';
import { wrapIndented } from '../terminal/wrap.ts';
import { eachRecord, type RecordWriter } from './record-writer.ts';
import type { MarkedLine } from './view.ts';

const marks: Readonly<Record<MarkedLine['mark'], { sign: string; look: Look }>> = {
  ok: { sign: '✓', look: 'good' },
  warn: { sign: '!', look: 'warning' },
  fail: { sign: '✗', look: 'bad' },
};
const indent = 2;

interface MarkedLinesOptions {
  stdout: Output;
  marked(record: unknown): MarkedLine;
  paint: Painter;
}

/**
 * Writes each record as a line with a coloured mark, and the command to run next below it. Wraps
 * the text at the width of a terminal. A command stays on one line, so that it can be copied.
 */
export function markedLines({ stdout, marked, paint }: MarkedLinesOptions): RecordWriter {
  const width = stdout.isTTY ? stdout.columns : undefined;
  return eachRecord((record) => {
    const { mark, text, next } = marked(record);
    const { sign, look } = marks[mark];
    const lines = wrapIndented(escapeControl(text), indent, width);
    stdout.write(`${paint[look](sign)} ${lines}\n`);
    if (next !== null) stdout.write(`${' '.repeat(2 * indent)}${escapeControl(next)}\n`);
  });
}
