import * as option from '../../input/option.ts';
import { defineCommand } from '../../program/spec.ts';
import { checkTvFlags, tvExamOptions } from './tv-options.ts';

export const conformance = defineCommand({
  summary: 'Check whether a deployment, or a TV, follows the protocol',
  description: `Each row checks one promise of the protocol and names its section in
docs/protocol.md. Rows of the level "required" are what every implementation must do; rows of the
level "profile" are decisions of this project. The checks create venues named "Conformance …" with
the label signage-conformance and remove them at the end, also after Ctrl-C. Their events and audit
entries stay. The token needs the role operator; rows that create tokens need admin. Exit codes: 0
no row failed, 9 a row failed, 7 the service cannot be reached, 4 the token has too few rights.

With --tv it examines a TV. It starts a service of its own and shows a pairing code for the TV. The
service loses answers, refuses requests and cuts connections. The TV is judged by its requests.
docs/conformance.md says more. Exit codes: 0 no row failed, 9 a row failed or too few were judged, 5
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
      ? (await import('./run-tv-exam.ts')).runTvExamCommand(call, call.options)
      : (await import('./run-checks.ts')).runChecks(call, call.options);
  },
});
