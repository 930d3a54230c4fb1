import type { CommandContext } from '../command/context.ts';
import { isForPeople } from '../options/format.ts';

interface Failure {
  id: string;
  text: string;
}

/** Tells the failed rows in full after a table at a terminal, which has cut their notes. */
export function showFailures(call: CommandContext, failures: readonly Failure[]): void {
  if (!call.io.stdout.isTTY || !isForPeople(call.common.output)) return;
  for (const { id, text } of failures) call.note(`✗ ${id}: ${text}`);
}
