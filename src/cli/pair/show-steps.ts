import type { CommandContext } from '../command/context.ts';
import { isWatched } from '../terminal/live-view.ts';
import { type PairStep, pairedView, stepView } from './pair-step.ts';

/**
 * The results of a pairing: each step as it happens; or, where a person watches the steps on the same terminal, what came of them: a record, or
 * a list with a line for each screen.
 */
export async function showSteps(
  call: CommandContext,
  shape: 'record' | 'list',
  steps: AsyncIterable<PairStep[]>,
): Promise<void> {
  if (!isWatched(call) || !call.io.stdout.isTTY) return call.results.list(steps, stepView);
  const last = new Map<string, PairStep>();
  for await (const page of steps) for (const step of page) last.set(step.screenId, step);
  const results = [...last.values()];
  async function* page() {
    yield results;
  }
  if (shape === 'list') return call.results.list(page(), pairedView);
  for (const step of results) await call.results.record(step, pairedView);
}
