import type { CommandContext } from '../command/context.ts';
import { groupedCode } from '../options/pairing-code.ts';
import { usage } from '../options/settings.ts';
import { isWatched } from '../terminal/live-view.ts';
import { type PairUpdate, pairedView, updateView } from './pair-update.ts';
import type { QrCode } from './qr-code.ts';

/** Whether the results themselves show each code as soon as there is one. */
function resultsShowCodes({ output = 'table', jq, fields }: CommandContext['common']): boolean {
  if (jq !== undefined || fields !== undefined) return output === 'ndjson';
  return ['table', 'wide', 'ndjson', 'csv'].includes(output);
}

/** Refuses a combination under which nobody would ever see the code. */
export function requireVisibleCode(call: CommandContext): void {
  if (isWatched(call) || !call.common.quiet || resultsShowCodes(call.common)) return;
  throw usage('With --quiet nobody would see the code in this form of result: use -o ndjson.');
}

/** Says a code where there is no liveView, and the results come too late to say it; its QR code, if that is wanted, in any case. */
export function noteCode(
  call: CommandContext,
  step: PairUpdate,
  qrOf: ((text: string) => QrCode) | undefined,
): void {
  if (step.step !== 'code' || step.code === null) return;
  if (!resultsShowCodes(call.common))
    call.note(
      `Code for ${step.venue}/${step.screen}: ${groupedCode(step.code)}, good until ${step.expiresAt}`,
    );
  if (qrOf && step.link !== null)
    for (const line of [...qrOf(step.link).lines, step.link]) call.note(line);
}

/**
 * The results of a pairing: each step as it happens; or, where a person watches the steps on the same terminal, what came of them: a record, or
 * a list with a line for each screen.
 */
export async function showUpdates(
  call: CommandContext,
  shape: 'record' | 'list',
  steps: AsyncIterable<PairUpdate[]>,
): Promise<void> {
  if (!isWatched(call) || !call.io.stdout.isTTY) return call.results.list(steps, updateView);
  const last = new Map<string, PairUpdate>();
  for await (const page of steps) for (const step of page) last.set(step.screenId, step);
  const results = [...last.values()];
  async function* page() {
    yield results;
  }
  if (shape === 'list') return call.results.list(page(), pairedView);
  for (const step of results) await call.results.record(step, pairedView);
}
