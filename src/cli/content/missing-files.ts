import type { CommandContext } from '../program/context.ts';
import { countText } from '../terminal/text.ts';

const maxShown = 5;

/** Says which media files a new store lacks the bytes of. */
export function noteMissingFiles(call: CommandContext, names: readonly string[]): void {
  if (names.length === 0) return;
  const shown = names.slice(0, maxShown).join(', ') + (names.length > maxShown ? ', …' : '');
  call.note(
    `The new store does not have the bytes of ${countText(names.length, 'media file')}: ${shown}. Copy the former media folder before you start the service, or upload them again: signage media verify names them.`,
  );
}
