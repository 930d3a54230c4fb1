import type { Screen } from '../../../client/entities.ts';
import { SignageError } from '../../../domain/error.ts';
import type { Profile } from '../../connection/profile.ts';
import type { CommandContext } from '../../program/context.ts';
import { failedExitCode } from '../../program/exit-code.ts';
import { defineCommand, some } from '../../program/spec.ts';
import { findScreen } from '../../records/find.ts';
import { mapRecords } from '../../records/for-each-record.ts';
import {
  hasFilter,
  isSingle,
  selectionOptions,
  selectScreens,
} from '../../records/select-screens.ts';
import { countText } from '../../terminal/text.ts';
import { checkCredential } from './credential-checks.ts';
import { type DoctorFinding, fail, findingView, ok } from './finding.ts';
import { checkScreen } from './screen-checks.ts';
import { checkService } from './service-checks.ts';
import { makeUrlChecks } from './url-checks.ts';

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
  checkUrls = makeUrlChecks(call),
): Promise<DoctorFinding[]> {
  try {
    const screen = await find();
    const findings = await checkScreen(call, screen, call.clock.now());
    return [...findings, ...(await checkUrls(screen))];
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
  const checkUrls = makeUrlChecks(call);
  const findings = await mapRecords(call, 'Checking', screens, ({ screen }) =>
    examineScreen(call, async () => screen, checkUrls),
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
a screen, also its pairing code, TV, playlist, media and events. Each check is ok, warn or fail, with the
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
