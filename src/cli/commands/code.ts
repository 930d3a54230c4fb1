import type { CallAnswer } from '../../client/call.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import { keepSecret } from '../connection/keep-secret.ts';
import * as option from '../input/option.ts';
import { readClaim, readCodeWords } from '../input/pairing-code.ts';
import type { CommandContext } from '../program/context.ts';
import { defineCommand, many, one, some } from '../program/spec.ts';
import { claimHints } from '../records/claim-hints.ts';
import { findScreen } from '../records/find.ts';
import { forEachRecord } from '../records/for-each-record.ts';
import {
  confirmSelected,
  type Selected,
  selectionOptions,
  selectScreens,
} from '../records/select-screens.ts';
import {
  claimView,
  codeResultColumns,
  codeStatusView,
  createdCodeView,
} from '../records/views/device-views.ts';
import { waitFor } from '../records/wait.ts';
import { countText } from '../terminal/text.ts';

const codeArgument = many('the code, such as ABCD2345 or abcd-2345; - reads it from stdin');

/** Shows new codes. If that fails, cancels them. */
function keepCodes<T>(
  call: CommandContext,
  codes: readonly string[],
  show: () => Promise<T>,
): Promise<T> {
  return keepSecret(show, {
    async undo() {
      for (const code of codes) await call.change('cancelCode', { params: { code } });
      return `${countText(codes.length, 'new code')} cancelled.`;
    },
    left: 'The new codes are pending until they expire: cancel them with signage code cancel.',
  });
}

/** Creates a code for each screen without a TV. */
async function createCodes(call: CommandContext, screens: readonly Selected[]): Promise<number> {
  await confirmSelected(call, 'Create codes for', screens);
  const codes: string[] = [];
  const createOne = async ({ id, screen }: Selected) => {
    if (screen.state === 'active') return { result: 'paired', code: null, expiresAt: null };
    const made = await call.change('createCode', { body: { screenId: id } });
    if (made) codes.push(made.answer.code);
    return made && { result: 'created', code: made.answer.code, expiresAt: made.answer.expiresAt };
  };
  const created = forEachRecord(call, screens, createOne, codeResultColumns(call));
  return created.catch((error: unknown) => {
    if (!hasCode(error, 'not_written')) throw error;
    return keepCodes(call, codes, () => Promise.reject(error));
  });
}

const screenTaken =
  'To replace its TV: signage pair {screen} --replace. To free it: signage device revoke {screen}';

const create = defineCommand({
  summary: 'Create a pairing code for a screen',
  description: `Type the code into the TV app before it expires. signage pair also follows the TV
until it plays. A screen has at most five pending codes: a sixth cancels the oldest. With several screens, --selector
or --venue, it creates one code for each screen without a TV.`,
  arguments: { screen: some('its id, or its name such as Lobby/Main', 'screen') },
  options: selectionOptions,
  examples: [
    ['signage code create Lobby/Main', 'shows the code and when it expires'],
    ['signage code create --selector role=menu -o csv', 'codes for all screens with a label'],
    ['signage code create Lobby/Main -o name', 'for scripts: prints the code alone'],
  ],
  effect: 'changes',
  hints: { screen_already_bound: screenTaken },
  async run(call) {
    const { screens, single } = await selectScreens(call, call.args.screen);
    if (!single) return createCodes(call, screens);
    const made = await call.change('createCode', { body: { screenId: single.id } });
    if (!made) return 0;
    const show = () => call.results.record(made.answer, createdCodeView(call, made.answer));
    await keepCodes(call, [made.answer.code], show);
    return 0;
  },
});

type CodeStatus = CallAnswer<'getCodeStatus'>;

/** Longest time that the service holds a long poll (docs/protocol.md §4). */
const longestHoldSeconds = 30;
/** Pause between two polls. Avoids a busy loop if the service does not hold the long poll. */
const everyMs = 500;

/** Long-polls until the code is used, has expired or is cancelled. */
function waitForEnd(call: CommandContext, code: string): Promise<CodeStatus> {
  const timeoutMs: number = call.options.timeout;
  const endsAt = call.clock.now() + timeoutMs;
  const waiting = {
    timeoutMs,
    what: 'a TV to use the code',
    everyMs,
    hint: 'The code is still valid.',
  };
  return waitFor(call, waiting, async () => {
    const leftSeconds = Math.ceil((endsAt - call.clock.now()) / 1000);
    const waitSeconds = Math.min(Math.max(leftSeconds, 1), longestHoldSeconds);
    const now = await call.read('getCodeStatus', { params: { code }, query: { waitSeconds } });
    return { found: now.status === 'pending' ? undefined : now, saw: `it is ${now.status}` };
  });
}

const status = defineCommand({
  summary: 'Show the status of a pairing code',
  description: `With --wait, waits until the code is used, has expired or is cancelled. Exit codes:
0 a TV used it, 5 it expired or was cancelled, 8 the timeout passed.`,
  arguments: { code: codeArgument },
  options: {
    wait: option.flag('--wait', 'wait until the code is used, has expired or is cancelled'),
    timeout: option.duration(
      '1h',
      '--timeout <time>',
      'with --wait: stop waiting after this time, such as 90s or 15m',
      'm',
    ),
  },
  examples: [
    ['signage code status ABCD-2345', 'typed as the screen shows it'],
    ['signage code status ABCD2345 --wait --timeout 15m', 'waits until a TV uses it'],
    [
      'signage code create Lobby/Main -o name | signage code status - --wait',
      'the code is never shown',
    ],
  ],
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

const cancel = defineCommand({
  summary: 'Cancel a pending pairing code',
  description: `TVs can no longer register with it. Does not ask first, because a new code is
quickly created.`,
  arguments: { code: codeArgument },
  examples: [
    ['signage code cancel ABCD-2345', 'typed as the screen shows it'],
    ['signage code cancel -', 'reads it from stdin, which hides it from the process list'],
  ],
  effect: 'changes',
  hints: {
    pairing_code_not_found:
      'Codes never contain 0, O, 1, I or L. The service deletes a code a day after it ends.',
  },
  async run(call) {
    const code = await readCodeWords(call.io, call.args.code);
    const made = await call.change('cancelCode', { params: { code } });
    if (made) call.note('Cancelled the code.');
  },
});

const claim = defineCommand({
  summary: 'Show the TV that shows a claim',
  description: `A TV that waits to be paired may show a claim of 6 characters. Compare the device
and its address with the TV in front of you before you offer it a screen.`,
  arguments: { claim: many('the claim, such as K7Q2MX or k7q-2mx') },
  examples: [
    ['signage code claim K7Q2MX', 'model, versions and address of the TV'],
    ['signage code claim K7Q-2MX -o json', 'for scripts'],
  ],
  hints: claimHints,
  async run(call) {
    const params = { claim: readClaim(call.args.claim.join('')) };
    await call.results.record(await call.read('getClaim', { params }), claimView);
  },
});

const offer = defineCommand({
  summary: 'Create a pairing code and send it to the TV that shows a claim',
  description: `The TV registers with the code by itself, and may ask for confirmation first.
signage pair --tv also shows the TV, and follows it until it plays.`,
  arguments: {
    screen: one('its id, or its name such as Lobby/Main', 'screen'),
    claim: many('the claim that the TV shows, such as K7Q2MX or k7q-2mx'),
  },
  examples: [['signage code offer Lobby/Main K7Q2MX', 'the TV that shows K7Q-2MX gets the code']],
  effect: 'changes',
  hints: {
    ...claimHints,
    screen_already_bound: screenTaken,
  },
  async run(call) {
    const params = { claim: readClaim(call.args.claim.join('')) };
    const { id } = await findScreen(call, call.args.screen);
    const made = await call.change('offerClaim', { params, body: { screenId: id } });
    if (made) await call.results.record(made.answer, createdCodeView(call, made.answer));
  },
});

export const code = {
  create,
  status,
  cancel,
  claim,
  offer,
};
