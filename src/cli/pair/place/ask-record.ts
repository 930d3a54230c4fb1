import { SignageError } from '../../../domain/error.ts';
import type { CommandContext } from '../../command/context.ts';
import { isUuid } from '../../records/names.ts';
import { escapeControl } from '../../terminal/escape.ts';
import type { Choice } from '../../terminal/prompter.ts';
import { type PairRights, requireCreateRight } from './pair-rights.ts';

/** A venue or screen that does not exist yet and will be created. */
export interface NewRecord {
  id?: undefined;
  name: string;
}

const maxNameLength = 200;

/**
 * Checks a name early, by the main rules of docs/protocol.md §5.1. The service checks it again.
 */
function nameProblem(text: string): string | undefined {
  const name = text.trim();
  if (name === '') return 'Type a name.';
  if ([...name].length > maxNameLength) return `Use at most ${maxNameLength} characters.`;
  return name.includes('/') ? 'Do not use "/": it separates the venue from the screen.' : undefined;
}

export async function askName(
  { prompter }: CommandContext,
  message: string,
  flag: string,
): Promise<NewRecord> {
  const name = await prompter.input({
    message: escapeControl(message),
    flag,
    validate: (text) => nameProblem(text) ?? true,
  });
  return { name: name.trim() };
}

/** Entry of the list that creates a record. Without a name, the next question asks for one. */
type CreateOffer = { id?: undefined; name: string | undefined };

/** Offers to create a record with the typed name, if the name is valid and not taken. */
function offerToCreate(
  kind: string,
  term: string,
  there: readonly { name: string }[],
): Choice<CreateOffer>[] {
  const name = term.trim();
  if (name === '') return [{ value: { name: undefined }, name: `Create a new ${kind} …` }];
  const isThere = there.some((one) => one.name.toLowerCase() === name.toLowerCase());
  return isThere || nameProblem(name) !== undefined
    ? []
    : [{ value: { name }, name: `Create the ${kind} "${name}"` }];
}

/**
 * Returns the record to create for a name that was not found, if `--create` or the person at the
 * terminal allows it. Otherwise throws `error`, with a hint if possible, or `declined`.
 */
export async function orCreate(
  call: CommandContext,
  rights: PairRights,
  name: string,
  kind: string,
  error: SignageError,
): Promise<NewRecord> {
  if (isUuid(name)) throw error;
  if (!call.options.create && !call.prompter.canAsk) {
    if (rights.mayCreate)
      throw new SignageError(error.code, error.message, { hint: 'To create it: --create' });
    throw error;
  }
  requireCreateRight(rights, `the missing ${kind} "${name}"`);
  const question = `There is no ${kind} "${name}". Create it?`;
  if (
    call.options.create ||
    (await call.prompter.confirm({
      message: escapeControl(question),
      flag: '--create',
      initial: true,
    }))
  )
    return { name: name.trim() };
  throw new SignageError('declined', 'Nothing was changed.');
}

/** The venues, or the screens of a venue, to choose from. */
interface Choices<T> {
  kind: 'venue' | 'screen';
  list(query: { search?: string }, signal: AbortSignal): Promise<T[]>;
  shown(record: T): Omit<Choice<T>, 'value'>;
  mayCreate: boolean;
  /** Called when the list is empty. Throws if the token may not create a record. */
  requireFirstRight(): void;
}

/** Asks for a record, or for the name of a new one. */
export async function askRecord<T extends { name: string }>(
  call: CommandContext,
  { kind, list, shown, mayCreate, requireFirstRight }: Choices<T>,
): Promise<T | NewRecord> {
  const flag = `--${kind}`;
  if (call.prompter.canAsk && (await list({}, call.interrupted)).length === 0) {
    requireFirstRight();
    return askName(call, `There is no ${kind} yet. Name of the first ${kind}:`, flag);
  }
  const find = async (term: string, signal: AbortSignal) => {
    const search = term.trim();
    const records = await list(
      search === '' ? {} : { search },
      AbortSignal.any([signal, call.interrupted]),
    );
    const there = records.map((value) => ({ value, ...shown(value) }));
    return mayCreate ? [...there, ...offerToCreate(kind, term, records)] : there;
  };
  const message = kind === 'venue' ? 'Venue' : 'Screen';
  const chosen = await call.prompter.search<T | CreateOffer>({ message, flag, find });
  if (chosen.name === undefined) return askName(call, `Name of the new ${kind}:`, flag);
  return chosen as T | NewRecord;
}
