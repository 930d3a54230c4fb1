import { SignageError } from '../../../domain/error.ts';
import type { CommandContext } from '../../command/context.ts';
import type { Choice } from '../../terminal/prompter.ts';
import type { NewRecord } from './ask-record.ts';
import { type PairRights, requireCreateRight } from './pair-rights.ts';

/** A name that no record has, with the options to continue. */
export interface MissingRecord<T> {
  kind: 'venue' | 'screen';
  name: string;
  /** Records with a similar name. */
  near: readonly Choice<T>[];
  error: SignageError;
}

/**
 * Returns the error with these sentences as its hint. Without sentences, returns the error
 * unchanged.
 */
function withHints(error: SignageError, hints: readonly string[]): SignageError {
  if (hints.length === 0) return error;
  return new SignageError(error.code, error.message, { hint: hints.join(' ') });
}

function didYouMean(near: readonly Choice<unknown>[]): string[] {
  const names = near.map(({ name }) => `"${name}"`);
  return names.length > 0 ? [`Did you mean ${names.join(' or ')}?`] : [];
}

/**
 * Asks the person at the terminal to choose a similar record. Without a terminal or a similar
 * record, throws `error` with the similar names.
 */
export async function chooseNear<T>(
  { prompter }: CommandContext,
  { kind, near, error }: Omit<MissingRecord<T>, 'name'>,
): Promise<T> {
  if (near.length === 0 || !prompter.canAsk) throw withHints(error, didYouMean(near));
  const message = `${error.message} Which one do you mean?`;
  return prompter.select({ message, flag: `--${kind}`, choices: near });
}

/**
 * Returns the chosen similar record, or the record to create, if `--create` or the person at the
 * terminal allows it. Otherwise throws `error` with the similar names, `insufficient_role` or
 * `declined`.
 */
export async function resolveMissing<T>(
  call: CommandContext,
  rights: PairRights,
  { kind, name, near, error }: MissingRecord<T>,
): Promise<T | NewRecord> {
  const { options, prompter } = call;
  const { mayCreate } = rights;
  const created: NewRecord = { name: name.trim() };
  if (options.create) {
    requireCreateRight(rights, `the missing ${kind} "${name}"`);
    return created;
  }
  if (!prompter.canAsk) {
    const list = near.length === 0 && error.hint !== undefined ? [error.hint] : [];
    const create = mayCreate ? ['To create it: --create'] : [];
    throw withHints(error, [...didYouMean(near), ...list, ...create]);
  }
  if (near.length > 0) {
    const offer = { value: created, name: `+ New ${kind} "${name}"` };
    const choices: Choice<T | NewRecord>[] = mayCreate ? [...near, offer] : [...near];
    return chooseNear(call, { kind, near: choices, error });
  }
  if (!mayCreate) call.note(error.message);
  requireCreateRight(rights, `the missing ${kind} "${name}"`);
  const question = `${error.message} Create it?`;
  if (await prompter.confirm({ message: question, flag: '--create', initial: true }))
    return created;
  throw new SignageError('declined', 'Nothing was changed.');
}
