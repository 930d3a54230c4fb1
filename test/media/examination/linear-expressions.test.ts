// Regular expressions that see what strangers wrote take linear time.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, it } from 'vitest';

/** Folders whose code sees files of strangers, and answers of their servers. */
const folders = ['src/media/examination', 'src/cli/examination', 'src/cli/content'];

/** Up to a megabyte. The smaller ones end the test of a quadratic expression early. */
const sizes = [2 ** 12, 2 ** 15, 2 ** 20];
const maxMs = 500;

/** Returns the regular expressions in the code of a file. */
function expressionsIn(path: string): RegExp[] {
  const found: RegExp[] = [];
  const { program } = parseSync(path, readFileSync(path, 'utf8'));
  new Visitor({
    Literal(node) {
      if ('regex' in node && node.regex)
        found.push(new RegExp(node.regex.pattern, node.regex.flags));
    },
  }).visit(program);
  return found;
}

/** Texts that make an expression look far from many places: its own words, and what repeats. */
function hostileTexts({ source }: RegExp, size: number): string[] {
  const words = source
    .replaceAll(/\\[sSwWdDbB]|\\x[\da-f]{2}|\(\?[:=!<]+|[[\](){}|*+?.^$]/g, '\n')
    .replaceAll('\\', '')
    .split('\n')
    .filter((word) => word !== '');
  const starts = words.map((_, at) => words.slice(0, at + 1).join(''));
  const units = ['a', '0', ' ', '\n', '<', '"', '-', '\0', 'aA0 ', ...words, ...starts];
  return [...new Set(units)].flatMap((unit) => {
    const many = unit.repeat(Math.ceil(size / unit.length));
    return [many, `${starts.at(-1) ?? ''}${many}`, ...words.slice(0, 3).map((word) => word + many)];
  });
}

const files = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
);
const cases = files.flatMap((file) =>
  expressionsIn(file).map((expression) => [file, expression] as const),
);

/** Returns the shortest time of up to three tries: a busy machine may interrupt one. */
function shortestMs(expression: RegExp, text: string): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && shortest >= maxMs; tries++) {
    expression.lastIndex = 0;
    const start = performance.now();
    expression.test(text);
    shortest = Math.min(shortest, performance.now() - start);
  }
  return shortest;
}

it.each(cases)('%s: %s', (_, expression) => {
  for (const text of sizes.flatMap((size) => hostileTexts(expression, size)))
    expect(shortestMs(expression, text), JSON.stringify(text.slice(0, 40))).toBeLessThan(maxMs);
});
