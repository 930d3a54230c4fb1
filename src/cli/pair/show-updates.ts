import type { CommandContext } from '../command/context.ts';
import { groupedCode } from '../options/pairing-code.ts';
import { usage } from '../options/settings.ts';
import { isWatched } from '../terminal/live-view.ts';
import { type PairUpdate, pairedView, updateView } from './pair-update.ts';
import type { QrCode } from './qr-code.ts';

/** Whether this output format prints each code as soon as it exists. */
function resultsShowCodes({ output = 'table', jq, fields }: CommandContext['common']): boolean {
  if (jq !== undefined || fields !== undefined) return output === 'ndjson';
  return ['table', 'wide', 'ndjson', 'csv'].includes(output);
}

/** Rejects option combinations under which nobody would see the code. */
export function requireVisibleCode(call: CommandContext): void {
  if (isWatched(call) || !call.common.quiet || resultsShowCodes(call.common)) return;
  throw usage('With --quiet and this output format nobody would see the code. Use -o ndjson.');
}

/**
 * Prints the code on stderr if the results do not show it in time. With `--qr`, also prints the QR
 * code.
 */
export function noteCode(
  call: CommandContext,
  update: PairUpdate,
  qrOf: ((text: string) => QrCode) | undefined,
): void {
  if (update.step !== 'code' || update.code === null) return;
  if (!resultsShowCodes(call.common))
    call.note(
      `Code for ${update.venue}/${update.screen}: ${groupedCode(update.code)}, valid until ${update.expiresAt}`,
    );
  if (qrOf && update.link !== null)
    for (const line of [...qrOf(update.link).lines, update.link]) call.note(line);
}

/**
 * Prints each update as it happens. If a person watches the live view on the same terminal, prints
 * only the final result: a record, or a list with one row per screen.
 */
export async function showUpdates(
  call: CommandContext,
  shape: 'record' | 'list',
  updates: AsyncIterable<PairUpdate[]>,
): Promise<void> {
  if (!isWatched(call) || !call.io.stdout.isTTY) return call.results.list(updates, updateView);
  const last = new Map<string, PairUpdate>();
  for await (const page of updates) for (const update of page) last.set(update.screenId, update);
  const results = [...last.values()];
  async function* page() {
    yield results;
  }
  if (shape === 'list') return call.results.list(page(), pairedView);
  for (const update of results) await call.results.record(update, pairedView);
}
