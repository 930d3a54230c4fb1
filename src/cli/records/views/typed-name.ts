import { isPrintable } from '../../terminal/escape.ts';
import { isUuid } from '../uuid.ts';

/**
 * Returns the name of a record as users can type it: its id if the name is unprintable or a UUID.
 */
export function typedName({ id, name }: { id: string; name: string }): string {
  return isPrintable(name) && !isUuid(name) ? name : id;
}
