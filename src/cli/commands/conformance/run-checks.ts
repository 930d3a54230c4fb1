import { allChecks } from '../../../conformance/all-checks.ts';
import type { Level, Need, Outcome } from '../../../conformance/fixture/check.ts';
import { runConformance } from '../../../conformance/run-conformance.ts';
import { hasCode, SignageError } from '../../../domain/error.ts';
import { clientOptions, connect } from '../../connection/connect.ts';
import type { CommandContext } from '../../program/context.ts';
import { failedExitCode } from '../../program/exit-code.ts';
import { didYouMean } from '../../records/near-names.ts';
import { withProgress } from '../../terminal/progress.ts';
import { outcomeView, showFailures } from './outcome-view.ts';

const pageSize = 25;

export interface CheckOptions {
  only: Level | undefined;
  row: readonly string[];
  slow: boolean;
  withGuessing: boolean;
  withTenants: boolean;
}

/** Explains the outcome of a failed or skipped check. */
function note({ result, expected, seen, reason }: Outcome): string | null {
  if (result === 'fail') return `expected ${expected}, saw ${seen}`;
  return reason;
}

const texts = { note, last: 'reason', groupParts: 1 } as const;

function allowed({ slow, withGuessing, withTenants }: CheckOptions): Need[] {
  const needs: (Need | false)[] = [
    slow && 'time',
    withGuessing && 'guessing',
    withTenants && 'tenants',
  ];
  return needs.filter((need) => need !== false);
}

/**
 * Groups outcomes into pages so that table columns line up. Shows the last page even if the run
 * fails.
 */
async function* inPages(
  outcomes: AsyncIterable<Outcome>,
  count: (outcome: Outcome) => void,
): AsyncGenerator<Outcome[]> {
  let page: Outcome[] = [];
  try {
    for await (const outcome of outcomes) {
      count(outcome);
      page.push(outcome);
      if (page.length < pageSize) continue;
      yield page;
      page = [];
    }
  } catch (error) {
    yield page;
    throw error;
  }
  yield page;
}

/**
 * Returns the error for an unknown check id with the nearest ids as its hint. Returns other errors
 * unchanged.
 */
async function withNearIds(error: unknown, rows: readonly string[]): Promise<unknown> {
  if (!hasCode(error, 'invalid_option') || rows.length === 0) return error;
  const groups = [...new Set(allChecks.map(({ id }) => id.replace(/\..*/, '')))];
  const ids = [...groups, ...allChecks.map(({ id }) => id)];
  const questions = await Promise.all(rows.map((row) => didYouMean(row, ids)));
  const hint = questions.filter(Boolean).join(' ') || `Ids begin with ${groups.join(', ')}.`;
  return new SignageError(error.code, error.message, { hint });
}

/** Runs the checks and prints their outcomes. Returns the exit code. */
export async function runChecks(call: CommandContext, options: CheckOptions): Promise<number> {
  const profile = await call.profile();
  const { tenantId } = await connect(profile, call, call.common);
  const client = await clientOptions(profile, call, call.common.verbose);
  const counts: Record<Outcome['result'], number> = { pass: 0, fail: 0, skip: 0 };
  const failed: Outcome[] = [];
  const leftovers: string[] = [];
  const run = {
    ...client,
    tenantId,
    only: options.only,
    ids: options.row,
    allow: allowed(options),
    signal: call.interrupted,
    onLeft: (what: readonly string[]) => {
      for (const one of what) leftovers.push(one);
    },
  };
  try {
    await withProgress(call, (show, erase) => {
      const onProgress = (done: number, of: number) => show(`${done} of ${of} rows`);
      const pages = inPages(runConformance({ ...run, onProgress }), (outcome) => {
        erase();
        counts[outcome.result]++;
        if (outcome.result === 'fail') failed.push(outcome);
      });
      return call.results.list(pages, outcomeView(call.common.output, texts));
    });
  } catch (error) {
    throw await withNearIds(error, options.row);
  } finally {
    for (const what of leftovers) call.note(`Could not be removed: ${what}`);
  }
  showFailures(call, failed, (outcome) => note(outcome) ?? '');
  call.note(`${counts.pass} rows passed, ${counts.fail} failed, ${counts.skip} were skipped.`);
  return counts.fail > 0 || leftovers.length > 0 ? failedExitCode : 0;
}
