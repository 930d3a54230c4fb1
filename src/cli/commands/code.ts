import type { CallAnswer } from '../../client/call.ts';
import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { forEachRecord } from '../command/for-each-record.ts';
import { defineCommand, many, one, optional, some } from '../command/spec.ts';
import * as option from '../options/option.ts';
import { readClaim, readCodeWords } from '../options/pairing-code.ts';
import {
  confirmSelected,
  type Selected,
  selectionOptions,
  selectScreens,
} from '../options/select-screens.ts';
import { selectorOption } from '../options/selector.ts';
import { pairingOptions } from '../pair/pairing-options.ts';
import { findScreen } from '../records/find.ts';
import {
  claimView,
  codeResultColumns,
  codeStatusView,
  createdCodeView,
} from '../records/views/device-views.ts';
import { waitFor } from '../records/wait.ts';

const codeArgument = many('the code, such as ABCD2345 or abcd-2345; - reads it from stdin');

/** Creates a code for each screen without a TV. */
async function createCodes(call: CommandContext, screens: readonly Selected[]): Promise<number> {
  await confirmSelected(call, 'Create codes for', screens);
  const createOne = async ({ id, screen }: Selected) => {
    if (screen.state === 'active') return { result: 'paired', code: null, expiresAt: null };
    const made = await call.change('createCode', { body: { screenId: id } });
    return made && { result: 'created', code: made.answer.code, expiresAt: made.answer.expiresAt };
  };
  return forEachRecord(call, screens, createOne, codeResultColumns(call));
}

const screenTaken =
  'To replace its TV: signage pair {screen} --replace. To free it: signage device revoke {screen}';

const create = defineCommand({
  summary: 'Create a pairing code for a screen',
  description: `Type the code into the TV app before it expires. signage pair also follows the TV
until it plays. A new code cancels the pending code of its screen. With several screens, --selector
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
    if (made) await call.results.record(made.answer, createdCodeView(call, made.answer));
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

const claimHints = {
  claim_not_found:
    'Type the claim that the TV shows now: it ends after ten minutes. Claims never contain 0, O, 1, I or L.',
  claim_offered: 'Start pairing at the TV again: it then shows a new claim.',
};

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

export const pair = defineCommand({
  summary: 'Pair a TV with a screen, step by step',
  description: `Creates a pairing code and shows it. Type the code on the TV. The command then
follows the TV until it has registered, fetched its playlist and sent its first event. At a terminal
it asks for missing arguments, and ends early if the screen has no playlist and the token may not
publish one. It replaces expired codes. Stopping the command cancels the code. --all --tv takes
screens by turns, and goes on when a TV has registered. Exit codes: 0 the TV is paired, 5 a TV
registered on the screen with another code, 8 the timeout passed, 9 one of several screens was not
paired.`,
  arguments: { screen: optional('the screen, as VENUE/SCREEN or by its id', 'screen') },
  options: {
    venue: option.text('--venue <venue>', 'the venue, by id or name', 'venue'),
    create: option.flag('--create', 'create the venue and the screen if they do not exist'),
    tv: option.text(
      '--tv [claim]',
      'pair the TV that shows this claim, such as K7Q2MX; without a claim, asks for it',
    ),
    replace: option.flag('--replace', 'revoke the TV that is now on the screen, then pair another'),
    reason: option.text(
      '--reason <text>',
      'why the old TV is revoked; recorded in the audit trail',
    ),
    ...pairingOptions,
    all: option.flag(
      '--all',
      'pair all screens of the venue that have no TV; with --tv, asks for a claim for each in turn',
    ),
    selector: selectorOption('with --all: only screens with these labels'),
    claimsFile: option.text(
      '--claims-file <file>',
      'pair screens of the venue with the TVs that show claims: CSV with the columns screen,claim; - reads stdin',
    ),
  },
  examples: [
    ['signage pair', 'asks for venue and screen, then shows what to do'],
    ['signage pair Lobby/Main', 'one screen'],
    ['signage pair Lobby/Main --tv K7Q2MX', 'the TV that shows K7Q-2MX; --yes for scripts'],
    [
      'signage pair Lobby/Main --replace --reason "Panel is broken"',
      'revokes the TV on the screen and pairs another',
    ],
    ['signage pair --venue Lobby --all', 'every screen of the venue without a TV'],
    [
      'signage pair --venue Lobby --all --tv',
      'the same, where the TVs show claims: walk from TV to TV and type them',
    ],
    [
      'signage pair --venue Lobby --claims-file claims.csv --yes',
      'for scripts: pairs all TVs of the file at once',
    ],
    [
      'signage pair --venue Lobby --all --codes-file codes.csv',
      'also writes the codes to a file, for the installer at the TVs',
    ],
    [
      'signage pair Lobby/Main --create -o ndjson',
      'for scripts: a line of JSON for each step, the first with the code',
    ],
    [
      'signage pair Lobby/Main --player-link-file player.url --wait-for registered',
      'for a browser that loses its storage: writes the link of the web player, with the key',
    ],
    [
      'signage pair Lobby/Main --wait-for registered --timeout 2m -o ndjson',
      'ends when a TV has registered; exit code 8 after two minutes',
    ],
  ],
  effect: 'changes',
  hints: {
    ...claimHints,
    screen_already_bound: 'To revoke the TV on the screen: signage pair … --replace',
  },
  async run(call) {
    const { runPair } = await import('../pair/run-pair.ts');
    return runPair(call);
  },
});
