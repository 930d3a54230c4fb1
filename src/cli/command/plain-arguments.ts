import type { CommandSpec } from './spec.ts';

/**
 * Parses the arguments of a command that takes no options. Returns `undefined` for words that
 * commander must parse. Shells run `signage completion` at each TAB, and loading commander is slow.
 */
export function plainArguments(
  { effect, options, arguments: all = {} }: CommandSpec,
  words: readonly string[],
): unknown[] | undefined {
  const forms = Object.values(all).map(({ form }) => form);
  const needed = forms.filter((form) => form === 'one').length;
  const takesMore = forms.at(-1) === 'some';
  if (effect !== 'alone' || options || forms.length !== needed + Number(takesMore))
    return undefined;
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const given = [...words.slice(0, end), ...words.slice(end + 1)];
  const isFlagged = words.slice(0, end).some((word) => word.startsWith('-'));
  if (isFlagged || given.length < needed || (given.length > needed && !takesMore)) return undefined;
  return takesMore ? [...given.slice(0, needed), given.slice(needed)] : given;
}
