import type { SignageError } from '../../domain/error.ts';
import { looksSecret, secretAdvice, usage } from '../input/settings.ts';
import { describeExtraWords } from './extra-words.ts';
import { type ParsingStopped, pathOf } from './parser.ts';

const tokenAdvice =
  'A token never belongs in the command line: use --token-file, SIGNAGE_TOKEN, or signage login.';

interface Explanation {
  /** Replaces the message of commander. Default: that message. */
  message?: string;
  /** Sentences before the reference to the help. */
  advice?: string | undefined;
}

/** Explains a mistake of which a person needs to know more than the message of commander. */
function explanation(
  { command, reason, spec }: ParsingStopped,
  text: string,
  words: readonly string[],
  meant: string | undefined,
): Explanation {
  // A value for a flag, or for an unknown option. It is not repeated.
  const [, flag, suggestion = ''] =
    /^unknown option '(--[^=]+)=.*'( \(Did you mean .*\))?$/s.exec(text) ?? [];
  if (flag !== undefined)
    return command.options.some(({ long }) => long === flag)
      ? { message: `The option ${flag} takes no value` }
      : { message: `unknown option '${flag}'${suggestion}` };
  if (text.startsWith("unknown option '--token'")) return { advice: tokenAdvice };
  if (reason.code === 'commander.excessArguments' && spec)
    return describeExtraWords(command, spec, words);
  const missing = command.registeredArguments[command.args.length];
  if (reason.code === 'commander.missingArgument' && missing)
    return { message: `The argument <${missing.name()}> is missing: ${missing.description}.` };
  if (reason.code !== 'commander.unknownCommand') return {};
  if (meant !== undefined)
    return { message: text.replace(/ \(Did you mean .*/s, ''), advice: meant };
  if (!command.parent || text.includes('Did you mean')) return {};
  return { advice: `The commands are ${command.commands.map((one) => one.name()).join(', ')}.` };
}

/**
 * Makes the error for a command line that commander refuses. Hides its words if one looks like a
 * secret. `words` are the command line; `meant` is advice for a command that does not exist.
 */
export function explainMistake(
  stopped: ParsingStopped,
  words: readonly string[],
  meant?: string,
): SignageError {
  const text = stopped.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ');
  const { message: clearer = text, advice } = explanation(stopped, text, words, meant);
  const isTold = looksSecret(clearer + advice);
  const message = isTold ? clearer.replace(/\s*[:'"].*/s, '') : clearer;
  const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
  const help = `See ${pathOf(stopped.command)} --help.`;
  const first = isTold || looksSecret(text) ? secretAdvice : advice;
  return usage(
    /[.?)]$/.test(sentence) ? sentence : `${sentence}.`,
    first === undefined ? help : `${first} ${help}`,
  );
}
