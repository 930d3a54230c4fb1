import { groupedCode } from '../../domain/typed-code.ts';

/**
 * Glyphs of the pairing-code characters, 5 by 7 dots. Each base-32 digit encodes one row of dots,
 * from left to right.
 */
const letters: Readonly<Record<string, string>> = {
  A: 'ehhvhhh',
  B: 'uhhuhhu',
  C: 'ehggghe',
  D: 'uhhhhhu',
  E: 'vgguggv',
  F: 'vgguggg',
  G: 'ehgnhhf',
  H: 'hhhvhhh',
  J: '72222ic',
  K: 'hikokih',
  M: 'hrllhhh',
  N: 'hppljjh',
  P: 'uhhuggg',
  Q: 'ehhhlid',
  R: 'uhhukih',
  S: 'fgge11u',
  T: 'v444444',
  U: 'hhhhhhe',
  V: 'hhhhha4',
  W: 'hhhllla',
  X: 'hha4ahh',
  Y: 'hha4444',
  Z: 'v1248gv',
  2: 'eh1248v',
  3: 'v2421he',
  4: '26aiv22',
  5: 'vgu11he',
  6: '68guhhe',
  7: 'v124888',
  8: 'ehhehhe',
  9: 'ehhf12c',
};

const dotsAcross = 5;
/**
 * For each text line: its first row of dots. One line of block characters draws two rows of dots.
 */
const lines = [0, 2, 4, 6];
const blocks = [' ', '▄', '▀', '█'];

const rowOf = (letter: string, row: number) => Number.parseInt(letter[row] ?? '0', 32);

function letterLine(letter: string, line: number): string {
  const upper = rowOf(letter, line);
  const lower = rowOf(letter, line + 1);
  const dots = Array.from({ length: dotsAcross }, (_, at) => dotsAcross - 1 - at);
  return dots.map((bit) => blocks[((upper >> bit) & 1) * 2 + ((lower >> bit) & 1)]).join('');
}

function groupLines(group: string): string[] {
  return lines.map((line) =>
    [...group].map((character) => letterLine(letters[character] ?? '', line)).join(' '),
  );
}

/**
 * Renders a code in large letters, in one or two rows of at most `columns` characters. Returns
 * `undefined` if the code does not fit or has other characters.
 */
export function blockLetters(code: string, columns: number): string[] | undefined {
  const groups = groupedCode(code).split('-');
  if (
    groups.length !== 2 ||
    ![...groups.join('')].every((character) => Object.hasOwn(letters, character))
  )
    return undefined;
  const [left = [], right = []] = groups.map(groupLines);
  const width = left[0]?.length ?? 0;
  const gap = 4;
  if (2 * width + gap <= columns)
    return left.map((line, at) => `${line}${' '.repeat(gap)}${right[at]}`);
  return width <= columns ? [...left, '', ...right] : undefined;
}

/**
 * Returns the link that the QR code contains for TV apps that work with a phone. It has the service
 * address and the code.
 */
export function pairLink(url: string, code: string): string {
  return `signage://pair?url=${encodeURIComponent(url)}&code=${encodeURIComponent(code)}`;
}

/** Draws the QR code of a text, as lines of equal width. Light modules are drawn as blocks. */
export type DrawQr = (text: string) => readonly string[];

/** Loads `uqr` on demand. */
export async function loadQrCodes(): Promise<DrawQr> {
  const { renderUnicodeCompact } = await import('uqr');
  return (text) => renderUnicodeCompact(text, { border: 2 }).split('\n');
}
