import { defineCommand } from '../command/spec.ts';
import * as option from '../options/option.ts';

export const command = defineCommand({
  summary: 'Check, row by row, whether a deployment keeps to the protocol',
  description: `Each row is one thing that the protocol promises, with its section in docs/protocol.md: required ones stand in the document that the
service was made from, those of the profile were decided by this project. The rows play in venues of their own, named
"Conformance …" and labelled signage-conformance, which are removed at the end, also after Ctrl-C; events and audit entries stay.
It takes a token of the role operator; rows that make tokens take admin. Exit codes: 0 every row passed or was skipped, 9 one failed, 7 the
service cannot be reached, 4 the token does not suffice.`,
  options: {
    only: option.choice(['required', 'profile'], '--only <level>', 'rows of this level only'),
    row: option.repeated(
      '--row <id>',
      'only rows whose id begins so, such as events or register.400',
    ),
    slow: option.flag(
      '--slow',
      'also the rows that wait until a code has expired: a quarter of an hour',
    ),
    withGuessing: option.flag(
      '--with-guessing',
      'also the rows that send unknown codes until this address is locked out for a while',
    ),
    withTenants: option.flag(
      '--with-tenants',
      'also the rows that make a second tenant: platform tokens must name one meanwhile',
    ),
  },
  examples: [
    ['signage conformance', 'all rows, against the service of the context'],
    [
      'signage conformance --url https://signage.example.com --token-file token.txt --only required',
      'somewhere else, what every implementation must do',
    ],
    [
      `signage conformance -o json --jq '.[] | select(.result == "fail") | .id'`,
      'for scripts: the rows that failed',
    ],
    ['signage conformance --row events --row playlist', 'what one is working on'],
  ],
  // It leaves the service as it was; there is nothing that --dry-run could show.
  effect: 'reads',
  run: async (call) => (await import('../conformance/run-rows.ts')).runRows(call, call.options),
});
