import { Help } from 'commander';

const help = Object.assign(new Help(), { minWidthToWrap: 1 });

/** Wraps a text at word boundaries. Keeps a word that is longer than a line. */
export const wrapText = (text: string, columns: number): string => help.boxWrap(text, columns);
