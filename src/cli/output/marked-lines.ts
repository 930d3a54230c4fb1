import type { Look, Painter } from '../terminal/colours.ts';
import { escapeControl } from '../terminal/escape.ts';
import type { Output } from '../terminal/io.ts';
import { wrapText } from '../terminal/wrap.ts';
import { eachRecord, type RecordWriter } from './record-writer.ts';
import type { MarkedLine } from './view.ts';

const marks: Readonly<Record<MarkedLine['mark'], { sign: string; look: Look }>> = {
  ok: { sign: '✓', look: 'good' },
  warn: { sign: '!', look: 'warning' },
  fail: { sign: '✗', look: 'bad' },
};
const indent = '  ';

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
  const wrapped = (text: string) =>
    width === undefined ? text : wrapText(text, width - indent.length);
  return eachRecord((record) => {
    const { mark, text, next } = marked(record);
    const { sign, look } = marks[mark];
    const lines = wrapped(escapeControl(text)).replaceAll('\n', `\n${indent}`);
    stdout.write(`${paint[look](sign)} ${lines}\n`);
    if (next !== null) stdout.write(`${indent}${indent}${escapeControl(next)}\n`);
  });
}
