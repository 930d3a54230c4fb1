import { conditions } from '../../domain/conditions/condition.ts';
import { SignageError } from '../../domain/error.ts';
import type { Profile } from '../api/profile.ts';
import type { CommandContext } from '../command/context.ts';
import { failedExitCode } from '../command/exit-code.ts';
import { emptyText } from '../command/first-step.ts';
import { mapRecords } from '../command/for-each-record.ts';
import { defineCommand, some } from '../command/spec.ts';
import { checkTvFlags, tvExamOptions } from '../conformance/tv-options.ts';
import { checkCredential } from '../doctor/credential-checks.ts';
import { type DoctorFinding, fail, findingView, ok } from '../doctor/finding.ts';
import { checkScreen } from '../doctor/screen-checks.ts';
import { checkService } from '../doctor/service-checks.ts';
import * as option from '../options/option.ts';
import {
  hasFilter,
  isSingle,
  noneMatches,
  selectionOptions,
  selectScreens,
} from '../options/select-screens.ts';
import { selectorOption } from '../options/selector.ts';
import { limitPages } from '../output/results.ts';
import { findScreen, type Screen } from '../records/find.ts';
import { countText } from '../records/text.ts';
import {
  countConditions,
  readFailOn,
  readFleetStatus,
  statusView,
} from '../status/fleet-status.ts';

const failed = (findings: readonly DoctorFinding[]) =>
  findings.some(({ status }) => status === 'fail');

/** Turns a `SignageError` into a finding. Rethrows interruptions and bugs. */
function findingOf(check: string, error: unknown): DoctorFinding {
  if (!(error instanceof SignageError) || error.code === 'interrupted') throw error;
  return fail(check, error.message, error.hint ?? null);
}

async function examineScreen(
  call: CommandContext,
  find: () => Promise<Screen>,
): Promise<DoctorFinding[]> {
  try {
    return await checkScreen(call, await find(), call.clock.now());
  } catch (error) {
    return [findingOf('screen', error)];
  }
}

/**
 * Checks several screens. Returns a summary, then the `screen` finding and the problems of each
 * screen that has problems.
 */
async function examineScreens(
  call: CommandContext,
  names: readonly string[],
): Promise<DoctorFinding[]> {
  const { screens } = await selectScreens(call, names);
  const findings = await mapRecords(call, 'Checking', screens, ({ screen }) =>
    examineScreen(call, async () => screen),
  );
  const faulty = findings.filter((some) => some.some(({ status }) => status !== 'ok'));
  const sound = `${screens.length - faulty.length} of ${countText(screens.length, 'screen')} have no problem.`;
  const problems = faulty.flatMap((some) =>
    some.filter(({ check, status }) => check === 'screen' || status !== 'ok'),
  );
  return [ok('screens', sound), ...problems];
}

/**
 * Checks the settings, the service, the credential and the screens, in this order. Skips the checks
 * that depend on a failed one.
 */
async function* examine(
  call: CommandContext,
  names: readonly string[],
): AsyncGenerator<readonly DoctorFinding[]> {
  let profile: Profile;
  try {
    profile = await call.profile();
  } catch (error) {
    yield [findingOf('settings', error)];
    return;
  }
  const service = await checkService(profile, call).catch((error: unknown) => [
    findingOf('service', error),
  ]);
  yield service;
  if (service.some(({ check, status }) => status === 'fail' && check !== 'clock')) return;
  const credential = await checkCredential(call, profile);
  yield credential;
  const [name] = names;
  if (failed(credential) || (name === undefined && !hasFilter(call))) return;
  yield name !== undefined && isSingle(call, names)
    ? await examineScreen(call, () => findScreen(call, name))
    : await examineScreens(call, names);
}

export const doctor = defineCommand({
  summary: 'Find out why something does not work, and what to do',
  description: `Checks the connection, the certificate, the clocks, the token and the service. With
a screen, also its pairing code, TV, playlist and events. Each check is ok, warn or fail, with the
command to run next. With --selector or --venue, it checks several screens and lists only the
problems. Exit codes: 0 no check failed, 9 a check failed.`,
  arguments: {
    screen: some('the screen that does not work, as VENUE/SCREEN or by id', 'screen'),
  },
  options: selectionOptions,
  examples: [
    ['signage doctor', 'the connection, the token and the service'],
    ['signage doctor Lobby/Main', 'also why this screen shows nothing'],
    ['signage doctor --selector role=menu', 'the problems of all screens with a label'],
    [
      `signage doctor Lobby/Main -o json --jq '.[] | select(.status == "fail") | .next'`,
      'for scripts: the commands to run next',
    ],
  ],
  async run(call) {
    const findings: DoctorFinding[] = [];
    for await (const some of examine(call, call.args.screen))
      for (const one of some) findings.push(one);
    // Prints all findings as one page, so that the table columns line up.
    await call.results.list([findings], findingView);
    return failed(findings) ? failedExitCode : 0;
  },
});

const statusOptions = {
  venue: option.text('--venue <venue>', 'only screens of this venue, by id or name', 'venue'),
  selector: selectorOption('only screens with these labels'),
  condition: option.choice(conditions, '--condition <condition>', 'only screens in this condition'),
  darkAfter: option.optionalDuration(
    '--dark-after <time>',
    'a screen is dark when its TV has been silent for this time, such as 30m; default: twice the longest interval of the TV, 10 minutes with the default config',
  ),
};

export const status = defineCommand({
  summary: 'Show what is on each screen, and which screens show nothing',
  description: `Lists the screens with their condition, the worst first:

- dark: its TV does not call
- stopped: the app of its TV was stopped
- failing: items fail, and nothing plays
- silent: its TV calls, but no longer reports that it plays
- asleep: it is one of these, outside its hours
- partly_failing: it plays, but some items fail
- outdated: it plays an older version of its playlist
- never_seen: its TV was paired, and has not called yet
- unconfirmed: its TV calls, and has not reported that it plays
- idle: it has no playlist
- unpaired: it has no TV
- playing: it plays

GLASS says what plays, or why nothing does. Exit codes: 0 no screen is dark, stopped, failing or
silent, 9 one is, 3 no screen matches. --fail-on chooses the conditions that give 9.`,
  options: {
    ...statusOptions,
    failOn: option.text(
      '--fail-on <conditions>',
      'end with exit code 9 for these conditions, with commas, or none; default: dark,stopped,failing,silent',
    ),
    watch: option.flag('--watch', 'redraw every five seconds, until Ctrl-C'),
  },
  examples: [
    ['signage status', 'the whole fleet'],
    ['signage status --venue Lobby --watch', 'one venue, redrawn every five seconds'],
    ['signage status -o name --quiet --fail-on dark', 'for scripts: exit code 9 if one is dark'],
    [
      `signage status -o json --jq '.[] | select(.condition == "failing") | .name'`,
      'the names of the screens whose items fail',
    ],
  ],
  list: true,
  async run(call) {
    const { watch, failOn, ...options } = call.options;
    const bad = readFailOn(failOn);
    if (watch) return (await import('../status/watch-status.ts')).watchStatus(call, options);
    const screens = await readFleetStatus(call, options);
    const hasSelection = options.venue !== undefined || options.selector.length > 0;
    if (screens.length === 0 && hasSelection && options.condition === undefined)
      throw noneMatches(call, '');
    await call.results.list(limitPages([screens], call.common.limit), statusView);
    const isEmpty = screens.length === 0 && options.condition === undefined;
    call.note(isEmpty ? emptyText('listScreens') : `${countConditions(screens)}.`);
    return screens.some(({ condition }) => bad.includes(condition)) ? failedExitCode : 0;
  },
});

export const top = defineCommand({
  summary: 'Watch what is on each screen, like status --watch',
  options: statusOptions,
  examples: [['signage top --venue Lobby', 'one venue, redrawn every five seconds']],
  async run(call) {
    return (await import('../status/watch-status.ts')).watchStatus(call, call.options);
  },
});

export const board = defineCommand({
  summary: 'Show a page with what is on each screen',
  description: `Serves a page on this machine and prints its address: a tile for each screen, with
its condition, what it plays or why not, and the command that looks deeper. The worst screens come
first. The page follows the service, which is asked every five seconds, once for all viewers. It can
change nothing, and the token never reaches the browser. The address has a random part: everybody on
this machine who knows it can see the page. Pictures and videos are loaded by the browser from where
they lie, without cookies.

The command ends with Ctrl-C, and an hour after its last viewer. While the service cannot be
reached, the page shows old data and says how old. Exit codes: 0 nobody looked for an hour, 3 no
screen matches, 4 the service refuses the token, 5 the port is taken, 7 the service could not be
reached at the start, 130 Ctrl-C.`,
  options: {
    venue: statusOptions.venue,
    selector: statusOptions.selector,
    port: option.wholeNumber([0, 65_535], 0, '--port <port>', 'port of 127.0.0.1; 0: any free one'),
    open: option.flag('--open', 'open the page in the browser'),
    noPreviews: option.flag('--no-previews', 'without pictures and videos'),
  },
  examples: [
    ['signage board --open', 'all screens, in the browser'],
    ['signage board --venue Lobby --port 4300', 'one venue, at a port of your choice'],
    [
      'ssh -t -L 4300:127.0.0.1:4300 server signage board --port 4300',
      'the board of another machine',
    ],
  ],
  async run(call) {
    return (await import('../board/run-board.ts')).runBoard(call, call.options);
  },
});

export const conformance = defineCommand({
  summary: 'Check whether a deployment, or a TV, follows the protocol',
  description: `Each row checks one promise of the protocol and names its section in
docs/protocol.md. Rows of the level "required" come from the original specification; rows of the
level "profile" were added by this project. The checks create venues named "Conformance …" with the
label signage-conformance and remove them at the end, also after Ctrl-C. Their events and audit
entries stay. The token needs the role operator; rows that create tokens need admin. Exit codes: 0
no row failed, 9 a row failed, 7 the service cannot be reached, 4 the token has too few rights.

With --tv it examines a TV. It starts a service of its own and shows a pairing code for the TV. The
service loses answers, refuses requests and cuts connections. The TV is judged by its requests.
docs/conformance.md says more. Exit codes: 0 no row failed, 9 a row failed or no TV registered, 5
the port is taken, 130 Ctrl-C (prints the rows judged so far).`,
  options: {
    only: option.choice(['required', 'profile'], '--only <level>', 'only rows of this level'),
    row: option.repeated(
      '--row <id>',
      'only rows whose id starts with this, such as events or register.400',
    ),
    slow: option.flag('--slow', 'also run rows that wait until a code has expired (15 minutes)'),
    withGuessing: option.flag(
      '--with-guessing',
      'also run rows that guess codes until the service blocks this address for a while',
    ),
    withTenants: option.flag(
      '--with-tenants',
      'also run rows that create a second tenant; meanwhile platform tokens must name a tenant',
    ),
    ...tvExamOptions,
  },
  examples: [
    ['signage conformance', 'all rows, against the service of the context'],
    [
      'signage conformance --url https://signage.example.com --token-file token.txt --only required',
      'another service; only what every implementation must do',
    ],
    [
      `signage conformance -o json --jq '.[] | select(.result == "fail") | .id'`,
      'for scripts: the rows that failed',
    ],
    ['signage conformance --row events --row playlist', 'only the rows of two subjects'],
    ['signage conformance --tv --quick --listen 0.0.0.0:4200', 'examine a TV in the same network'],
    [
      'signage conformance --tv --power-cmd ./plug.sh -o junit',
      'the full exam, with a switched socket, for CI',
    ],
  ],
  // The run removes the records that it creates, so --dry-run has nothing to show.
  async run(call) {
    checkTvFlags(call.flags);
    return call.options.tv
      ? (await import('../conformance/run-tv-exam.ts')).runTvExamCommand(call, call.options)
      : (await import('../conformance/run-checks.ts')).runChecks(call, call.options);
  },
});
