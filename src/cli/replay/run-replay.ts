import { setMaxListeners } from 'node:events';
import { withNodePlatform } from '../../client/node-platform.ts';
import { makeTransport, serviceAddress } from '../../client/transport.ts';
import { hasCode } from '../../domain/error.ts';
import { clientConnection } from '../api/connect.ts';
import { readAddress } from '../api/profile.ts';
import type { CommandContext } from '../command/context.ts';
import { failedExitCode } from '../command/exit-code.ts';
import { readInput } from '../options/input-file.ts';
import { readCode } from '../options/pairing-code.ts';
import { usage, type Values } from '../options/settings.ts';
import type { View } from '../output/view.ts';
import type { replayOptions } from '../record/options.ts';
import { isManagement, recordedTvs } from '../record/recorded-tvs.ts';
import { readRecording } from '../record/recording.ts';
import { countText } from '../records/text.ts';
import { members } from '../records/views/columns.ts';
import { codeProblem } from '../tv/tv-pairing.ts';
import { needsCode, planReplay, type ReplayPlan } from './replay-plan.ts';
import { noAnswer, type ReplayContext, ReplayedTv } from './replayed-tv.ts';

type ReplayOptions = Values<typeof replayOptions>;

/** Group of requests with the same operation, recorded answer and current answer. */
interface ReplayRow {
  operation: string;
  /** Status and error code. `none`: no answer. */
  recorded: string;
  now: string;
  requests: number;
  /** Whether the answers differ. Always false for requests without a recorded answer. */
  differs: boolean;
}

const replayView: View<ReplayRow> = {
  columns: members<ReplayRow>('operation', 'recorded', 'now', 'requests', 'differs'),
  nameOf: ({ operation, recorded, now }) => `${operation} ${recorded} ${now}`,
};

class ReplayResult {
  readonly #rows = new Map<string, ReplayRow>();

  readonly add: ReplayContext['onAnswer'] = ({ operation, method, path }, recorded, now) => {
    const name = operation ?? `${method} ${path.replace(/\?.*$/, '')}`;
    const key = [name, recorded, now].join('\n');
    const row = this.#rows.get(key);
    const differs = recorded !== now && recorded !== noAnswer;
    if (row) row.requests++;
    else this.#rows.set(key, { operation: name, recorded, now, requests: 1, differs });
  };

  get rows(): ReplayRow[] {
    return [...this.#rows.values()];
  }
}

async function givenCodes(call: CommandContext, { code }: ReplayOptions): Promise<string[]> {
  const texts: string[] = [];
  for (const text of code) {
    if (text !== '-') texts.push(text);
    else {
      const typed = await readInput(call.io, '-', { isSecret: true });
      for (const one of typed.split('\n')) texts.push(one);
    }
  }
  return texts.filter((text) => text.trim() !== '').map(readCode);
}

/** Returns a code for each TV. Asks for missing codes at a terminal. */
async function codesFor(
  call: CommandContext,
  tvs: readonly ReplayPlan[],
  options: ReplayOptions,
): Promise<string[]> {
  const codes = await givenCodes(call, options);
  while (codes.length < tvs.length && call.prompter.canAsk) {
    const answer = await call.prompter.input({
      message: `Pairing code of TV ${codes.length + 1} of ${tvs.length}:`,
      flag: '--code',
      validate: (text) => codeProblem(text) ?? true,
    });
    codes.push(readCode(answer));
  }
  if (codes.length === tvs.length) return codes;
  throw usage(
    `The recording needs ${countText(tvs.length, 'pairing code')}, one for each TV, not ${codes.length}. Give --code for each.`,
    'Create codes: signage code create, or signage pair.',
  );
}

function noteLeftOut({ note }: CommandContext, management: number, others: number): void {
  if (management > 0) note(`Left out ${countText(management, 'request')} to /v1.`);
  if (others > 0)
    note(
      `Left out ${countText(others, 'request')} that the service did not get or could not store.`,
    );
}

/** Runs `signage replay`. Returns the exit code. */
export async function runReplay(
  call: CommandContext,
  file: string,
  options: ReplayOptions,
): Promise<number> {
  const { io, clock, random, interrupted } = call;
  const exchanges = readRecording(await readInput(io, file), file);
  const plans = recordedTvs(exchanges).map(planReplay);
  const [first] = exchanges;
  if (!first || plans.length === 0) throw usage(`${file} contains no request of a TV.`);
  const address = await readAddress(options, io);
  const service = serviceAddress(address.url.value);
  const codes = await codesFor(call, plans.filter(needsCode), options);
  const connection = await clientConnection(address, call, call.common.verbose);
  const failed = new AbortController();
  const result = new ReplayResult();
  const signal = AbortSignal.any([interrupted, failed.signal]);
  // Each TV that waits listens to the signal. Node warns of more than ten listeners.
  setMaxListeners(0, signal);
  const context: ReplayContext = {
    service,
    transport: makeTransport({
      ...withNodePlatform({ ...connection, url: service }),
      service,
      clock,
    }),
    clock,
    random,
    speed: options.speed ?? 1,
    startedMs: clock.now(),
    recordedMs: Date.parse(first.at),
    signal,
    onAnswer: result.add,
  };
  const runs = plans.map(async (plan) => {
    const tv = new ReplayedTv(plan, needsCode(plan) ? codes.shift() : undefined, context);
    try {
      await tv.run();
    } catch (error) {
      failed.abort();
      throw error;
    }
  });
  const ends = await Promise.allSettled(runs);
  const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  if (errors.length > 0) throw errors.find((error) => !hasCode(error, 'interrupted')) ?? errors[0];
  const leftOut = plans.reduce((sum, plan) => sum + plan.leftOut, 0);
  noteLeftOut(call, exchanges.filter(isManagement).length, leftOut);
  await call.results.list([result.rows], replayView, 'No request was sent.');
  return result.rows.some(({ differs }) => differs) ? failedExitCode : 0;
}
