import type { CallAnswer } from '../../../client/call.ts';
import { SignageError } from '../../../domain/error.ts';
import type { CommandContext } from '../../command/context.ts';
import { defineCommand, many } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { readCodeWords } from '../../options/pairing-code.ts';
import { codeStatusView } from '../../records/views/device-views.ts';
import { waitUntil } from '../../records/wait.ts';
import { makeProgress } from '../../terminal/progress.ts';

type CodeStatus = CallAnswer<'getCodeStatus'>;

/** Longest time that the service holds a long poll (docs/protocol.md §4). */
const longestHoldSeconds = 30;
/** Pause between two polls, in case the service does not hold its answers. */
const everyMs = 500;

/** Long-polls until the code is used, has expired or is cancelled. */
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
  summary: 'Show the status of a pairing code',
  description: `With --wait, waits until the code is used, has expired or is cancelled. Exit codes:
0 a TV used it, 5 it expired or was cancelled, 8 the timeout passed.`,
  arguments: { code: many('the code, such as ABCD2345 or abcd-2345; - reads it from stdin') },
  options: {
    wait: option.flag('--wait', 'wait until the code is used, has expired or is cancelled'),
    timeout: option.duration(
      '1h',
      '--timeout <time>',
      'with --wait: stop waiting after this time, such as 90s or 15m',
    ),
  },
  examples: [
    ['signage code status ABCD 2345', 'typed as the screen shows it'],
    ['signage code status ABCD2345 --wait --timeout 15m', 'waits until a TV uses it'],
    [
      'signage code create Lobby/Main -o name | signage code status - --wait',
      'the code is never shown',
    ],
  ],
  operation: 'getCodeStatus',
  effect: 'reads',
  hints: {
    pairing_code_not_found:
      'Codes never contain 0, O, 1, I or L. The service deletes a code a day after it ends. Create a new one: signage code create',
  },
  async run(call) {
    const code = await readCodeWords(call.io, call.args.code);
    const found = call.options.wait
      ? await waitForEnd(call, code)
      : await call.read('getCodeStatus', { params: { code } });
    await call.results.record(found, codeStatusView(call, found));
    if (!call.options.wait || found.status === 'used') return;
    const hint = `Create a new one: signage code create ${found.screenId}`;
    throw new SignageError(
      `pairing_code_${found.status}`,
      `No TV used the code: it is ${found.status}.`,
      { hint },
    );
  },
});
