import { hash } from 'node:crypto';

/** The first line of each head. The others are names and values. */
export const headTitle = 'signage statement 1';

/** The lines of a head that programs read. */
export type Head = Record<
  'campaign' | 'day' | 'number' | 'plays' | 'full-plays' | 'seconds' | 'late' | 'rows' | 'previous',
  string
> & { [name: string]: string | undefined };

/** Leaves out the lines without a value. */
export function headText(head: Head): string {
  const lines = Object.entries(head).map(([name, value]) => value && `${name}: ${value}`);
  return `${[headTitle, ...lines.filter(Boolean)].join('\n')}\n`;
}

/** Reads the text of a head that its key has signed. */
export const readHead = (text: string): Head =>
  Object.fromEntries(text.split('\n').map((line) => line.split(/: (.*)/, 2))) as Head;

/** Identifies a head: the next one names it. */
export const headHash = (text: string): string => hash('sha256', text);
