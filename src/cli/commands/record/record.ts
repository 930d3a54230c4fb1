import { defineCommand } from '../../program/spec.ts';
import { recordOptions } from './options.ts';

export const record = defineCommand({
  summary: 'Record the requests of a TV, and check them',
  description: `Passes the requests of a TV app on to a service, and the answers back. Each exchange
is checked against the protocol, shown, and written to a file as one line of JSON. The line has
times, sizes, statuses, what is wrong, and the types and times of events. It has no secrets, no ids
and no texts of the TV.

Ctrl-C ends the recording and prints a summary: requests, answers, and intervals compared with the
config. --summary prints it again. docs/tv.md says more. Exit codes: 0 --summary was printed, 5 the
port is taken, 6 the file is not a recording, 130 Ctrl-C.`,
  options: recordOptions,
  examples: [
    [
      'signage record --to https://signage.example.com --out tv.ndjson',
      'then give the TV the address http://127.0.0.1:4200',
    ],
    [
      'signage record --listen 0.0.0.0:4200 --out tv.ndjson',
      'for a TV on the network; uses the service of the current context',
    ],
    ['signage record --summary tv.ndjson', 'prints the summary of a recording'],
    [
      `signage record --summary tv.ndjson -o json --jq '.[].remark | select(.)'`,
      'for scripts: the intervals that differ from the config',
    ],
  ],
  effect: 'alone',
  run: async (call) => (await import('./run-record.ts')).runRecord(call, call.options),
});
