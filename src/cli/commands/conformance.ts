import { defineCommand } from '../command/spec.ts';
import * as option from '../options/option.ts';

export const command = defineCommand({
  summary: 'Check whether a deployment follows the protocol',
  description: `Each row checks one promise of the protocol and names its section in
docs/protocol.md. Rows of the level "required" come from the original specification; rows of the
level "profile" were added by this project. The checks create venues named "Conformance …" with the
label signage-conformance and remove them at the end, also after Ctrl-C. Their events and audit
entries stay. The token needs the role operator; rows that create tokens need admin. Exit codes: 0
all rows passed or were skipped, 9 a row failed, 7 the service cannot be reached, 4 the token has
too few rights.`,
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
  ],
  // The run removes its own records, so --dry-run has nothing to show.
  effect: 'reads',
  run: async (call) => (await import('../conformance/run-checks.ts')).runChecks(call, call.options),
});
