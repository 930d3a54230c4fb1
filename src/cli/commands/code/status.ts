import type { CallAnswer } from '../../../client/call.ts';
import { SignageError } from '../../../domain/error.ts';
import type { CommandContext } from '../../command/context.ts';
import { defineCommand, many } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { readCodeWords } from '../../options/pairing-code.ts';
import { codeStatusView } from '../../records/views/code-view.ts';
import { waitUntil } from '../../records/wait.ts';
import { makeProgress } from '../../terminal/progress.ts';

type CodeStatus = CallAnswer<'getCodeStatus'>;

/** The longest that the service holds an answer (docs/protocol.md §4). */
const longestHoldSeconds = 30;
/** Between two held answers, lest a service that does not hold them is asked without end. */
const everyMs = 500;

/** Waits until the code is finished; the service holds its answers meanwhile. */
async function waitForEnd(call: CommandContext, code: string): Promise<CodeStatus> {
  const timeoutMs: number = call.options.timeout;
  const endsAt = call.clock.now() + timeoutMs;
  const progress = makeProgress(call);
  const what = 'a TV to use the code';
  try {
    return await waitUntil(call, { timeoutMs, what, everyMs }, async () => {
      progress.show(`Waiting for ${what} …`);
      const leftSeconds = Math.ceil((endsAt - call.clock.now()) / 1000);
      const waitSeconds = Math.min(Math.max(leftSeconds, 1), longestHoldSeconds);
      const now = await call.read('getCodeStatus', { params: { code }, query: { waitSeconds } });
      return now.status === 'pending' ? undefined : now;
    });
  } finally {
    progress.end();
  }
}

export const command = defineCommand({
  summary: 'Show where a pairing code stands',
  description:
    'With --wait it is shown once it is finished: the exit code is 0 when a TV used it, 5 when it expired or was cancelled, 8 when the time was over.',
  arguments: { code: many('the code in any spelling, such as abcd-2345; - reads it from stdin') },
  options: {
    wait: option.flag('--wait', 'wait until a TV used it, or it expired or was cancelled'),
    timeout: option.duration(
      '1h',
      '--timeout <time>',
      'with --wait: the longest to wait, such as 90s or 15m',
    ),
  },
  examples: [
    ['signage code status ABCD 2345', 'as it is read off the screen'],
    ['signage code status ABCD2345 --wait --timeout 15m', 'until a TV used it'],
    [
      'signage code create Lobby/Main -o name | signage code status - --wait',
      'the code is never seen',
    ],
  ],
  operation: 'getCodeStatus',
  effect: 'reads',
  hints: {
    pairing_code_not_found:
      'Codes have no 0, O, 1, I or L. They are forgotten a day after their end: signage code create makes another.',
  },
  async run(call) {
    const code = await readCodeWords(call.io, call.args.code);
    const found = call.options.wait
      ? await waitForEnd(call, code)
      : await call.read('getCodeStatus', { params: { code } });
    await call.results.record(found, codeStatusView(call, found));
    if (!call.options.wait || found.status === 'used') return;
    const hint = `Make another: signage code create ${found.screenId}`;
    throw new SignageError(
      `pairing_code_${found.status}`,
      `No TV used the code: it is ${found.status}.`,
      { hint },
    );
  },
});
