import type { CommandContext } from '../../command/context.ts';
import { escapeControl } from '../../terminal/escape.ts';
import type { Choice } from '../../terminal/prompter.ts';

/** A venue or screen that does not exist yet and will be created. */
export interface NewRecord {
  id?: undefined;
  name: string;
}

const maxNameLength = 200;

/** Checks a name early, by the main rules of docs/protocol.md §5.1. The service checks it again. */
function nameProblem(text: string): string | undefined {
  const name = text.trim();
  if (name === '') return 'Type a name.';
  if ([...name].length > maxNameLength) return `Use at most ${maxNameLength} characters.`;
  return name.includes('/') ? 'Do not use "/": it separates the venue from the screen.' : undefined;
}

/** Asks for the name of a new record. */
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

/** List entry that creates a record. Without a name, the name is asked for next. */
export type CreateOffer = { id?: undefined; name: string | undefined };

/** Offers to create a record with the typed name, if that is a valid name and not taken. */
export function offerToCreate(
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
