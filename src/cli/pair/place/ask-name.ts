import type { CommandContext } from '../../command/context.ts';
import { escapeControl } from '../../terminal/escape.ts';
import type { Choice } from '../../terminal/prompter.ts';

/** What is not there yet, and will be made under this name. */
export interface NewRecord {
  id?: undefined;
  name: string;
}

const maxNameLength = 200;

/** The rules of names, as far as they help who types one (docs/protocol.md §5.1); the service has the last word. */
function nameProblem(text: string): string | undefined {
  const name = text.trim();
  if (name === '') return 'Give it a name.';
  if ([...name].length > maxNameLength) return `At most ${maxNameLength} characters.`;
  return name.includes('/') ? 'No slashes: they part the venue from the screen.' : undefined;
}

/** Asks for the name of something new. */
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

/** Stands in a list for what is not in it; without a name it will be asked for. */
export type CreateOffer = { id?: undefined; name: string | undefined };

/** The offer to make something new: under the name that was typed, when it may be one and there is none of that name. */
export function offerToCreate(
  kind: string,
  term: string,
  there: readonly { name: string }[],
): Choice<CreateOffer>[] {
  const name = term.trim();
  if (name === '') return [{ value: { name: undefined }, name: `Make a new ${kind} …` }];
  const isThere = there.some((one) => one.name.toLowerCase() === name.toLowerCase());
  return isThere || nameProblem(name) !== undefined
    ? []
    : [{ value: { name }, name: `Make the ${kind} "${name}"` }];
}
