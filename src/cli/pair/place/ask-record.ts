import type { CommandContext } from '../../command/context.ts';
import { countText } from '../../records/text.ts';
import { escapeControl } from '../../terminal/escape.ts';
import type { Choice } from '../../terminal/prompter.ts';

/** A venue or screen that does not exist yet and will be created. */
export interface NewRecord {
  id?: undefined;
  name: string;
}

const maxNameLength = 200;

/**
 * Returns the reason to reject a name, by the main rules of docs/protocol.md §5.1. The service
 * checks all rules.
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

/** List entry that creates a record. Without a name, the next question asks for the name. */
type CreateOffer = { id?: undefined; name: string | undefined };

/** Offers to create a record with the typed name, if the name is valid and not taken. */
function offerToCreate(
  kind: string,
  term: string,
  there: readonly { name: string }[],
): Choice<CreateOffer>[] {
  const name = term.trim();
  if (name === '') return [{ value: { name: undefined }, name: `+ New ${kind} …` }];
  const isThere = there.some((one) => one.name.toLowerCase() === name.toLowerCase());
  return isThere || nameProblem(name) !== undefined
    ? []
    : [{ value: { name }, name: `+ New ${kind} "${name}"` }];
}

/** The records to choose from: venues, or the screens of a venue. */
interface Choices<T> {
  kind: 'venue' | 'screen';
  list(query: { search?: string }, signal: AbortSignal): Promise<T[]>;
  shown(record: T): Omit<Choice<T>, 'value'>;
  mayCreate: boolean;
  /** Maximum length of the list. */
  limit: number;
  /** Called when the list is empty. Throws if the token may not create a record. */
  requireFirstRight(): void;
}

/** Asks for a record, or for the name of a new record. */
export async function askRecord<T extends { name: string }>(
  call: CommandContext,
  { kind, list, shown, mayCreate, limit, requireFirstRight }: Choices<T>,
): Promise<T | NewRecord> {
  const flag = kind === 'venue' ? '--venue' : 'VENUE/SCREEN';
  if (call.prompter.canAsk && (await list({}, call.interrupted)).length === 0) {
    requireFirstRight();
    return askName(call, `There is no ${kind} yet. Name of the first ${kind}:`, flag);
  }
  let count: number | undefined;
  const find = async (term: string, signal: AbortSignal) => {
    const search = term.trim();
    const records = await list(
      search === '' ? {} : { search },
      AbortSignal.any([signal, call.interrupted]),
    );
    count = records.length;
    const there = records.map((value) => ({ value, ...shown(value) }));
    return mayCreate ? [...there, ...offerToCreate(kind, term, records)] : there;
  };
  const message = kind === 'venue' ? 'Venue' : 'Screen';
  const tip = () => {
    const keys = mayCreate ? 'Type to filter or to make a new one' : 'Type to filter';
    if (count === undefined) return keys;
    return `${keys} · ${count < limit ? '' : 'the first '}${countText(count, kind)}`;
  };
  const chosen = await call.prompter.search<T | CreateOffer>({ message, flag, find, tip });
  if (chosen.name === undefined) return askName(call, `Name of the new ${kind}:`, flag);
  return chosen as T | NewRecord;
}
