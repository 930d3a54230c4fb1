import type { CommandContext } from '../command/context.ts';
import { isForPeople } from '../options/format.ts';

interface Failure {
  id: string;
  text: string;
}

/** Prints the full notes of failed rows, because a table at a terminal truncates them. */
export function showFailures(call: CommandContext, failures: readonly Failure[]): void {
  if (!call.io.stdout.isTTY || !isForPeople(call.common.output)) return;
  for (const { id, text } of failures) call.note(`✗ ${id}: ${text}`);
}
