import { isPrintable } from '../../terminal/escape.ts';
import { isUuid } from '../uuid.ts';

/** What can be typed to name a record: its name, or its id when the name cannot be shown as it is, or looks like an id. */
export function typedName({ id, name }: { id: string; name: string }): string {
  return isPrintable(name) && !isUuid(name) ? name : id;
}
