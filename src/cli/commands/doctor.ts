import { SignageError } from '../../domain/error.ts';
import type { Profile } from '../api/profile.ts';
import type { CommandContext } from '../command/context.ts';
import { defineCommand, optional } from '../command/spec.ts';
import { checkCredential } from '../doctor/credential-checks.ts';
import { type Finding, fail, findingView } from '../doctor/finding.ts';
import { checkScreen } from '../doctor/screen-checks.ts';
import { checkService } from '../doctor/service-checks.ts';
import { findScreen } from '../records/find.ts';

const failedExitCode = 9;
const failed = (findings: readonly Finding[]) => findings.some(({ status }) => status === 'fail');

/** Turns a `SignageError` into a finding. Rethrows interruptions and bugs. */
function findingOf(check: string, error: unknown): Finding {
  if (!(error instanceof SignageError) || error.code === 'interrupted') throw error;
  return fail(check, error.message, error.hint ?? null);
}

async function examineScreen(call: CommandContext, name: string): Promise<Finding[]> {
  try {
    return await checkScreen(call, await findScreen(call, name), call.clock.now());
  } catch (error) {
    return [findingOf('screen', error)];
  }
}

/** Checks from the outside in. Skips everything that depends on a failed check. */
async function* examine(
  call: CommandContext,
  screen: string | undefined,
): AsyncGenerator<readonly Finding[]> {
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
  if (screen !== undefined && !failed(credential)) yield await examineScreen(call, screen);
}

export const command = defineCommand({
  summary: 'Find out why something does not work, and what to do',
  description: `Checks the connection, the certificate, the clocks, the token and the service. With
a screen, also its pairing code, TV, playlist and events. Each check is ok, warn or fail, with the
command to run next. Exit codes: 0 no check failed, 9 a check failed.`,
  arguments: {
    screen: optional('the screen that does not work, as VENUE/SCREEN or by id', 'screen'),
  },
  examples: [
    ['signage doctor', 'the connection, the token and the service'],
    ['signage doctor Lobby/Main', 'also why this screen shows nothing'],
    [
      `signage doctor Lobby/Main -o json --jq '.[] | select(.status == "fail") | .next'`,
      'for scripts: the commands to run next',
    ],
  ],
  effect: 'reads',
  async run(call) {
    const findings: Finding[] = [];
    for await (const some of examine(call, call.args.screen)) findings.push(...some);
    // One page, so that the table columns line up.
    await call.results.list(
      (async function* () {
        yield findings;
      })(),
      findingView,
    );
    return failed(findings) ? failedExitCode : 0;
  },
});
