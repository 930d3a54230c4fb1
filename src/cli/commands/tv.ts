import { defineCommand } from '../command/spec.ts';
import { recordOptions } from '../record/options.ts';
import { simulateSettings } from '../simulate/options.ts';
import { tvOptions } from '../tv/tv-options.ts';

const codeHints = {
  pairing_code_not_found: 'Create a code: signage code create, or signage pair.',
  pairing_code_used: 'Create a new code: signage code create, or signage pair.',
  pairing_code_expired: 'Create a new code: signage code create, or signage pair.',
  pairing_code_cancelled: 'Create a new code: signage code create, or signage pair.',
};

export const tv = defineCommand({
  summary: 'Run one simulated TV',
  description: `Registers with a pairing code, then fetches its config and playlist, plays, and
sends events like a real TV. It shows what it does and needs no management token. At a terminal it
asks for the pairing code, and asks again when its key is lost. With --state the same TV continues
after a restart or a crash. docs/tv.md says more. Exit codes: 0 --duration or --once has ended, 2 no
code given and no terminal to ask, 3 unknown code, 4 the key was rejected, 5 the code was used or
has expired, or the state file is in use, 6 the state file is damaged, 7 the service cannot be
reached to register, 130 Ctrl-C.`,
  options: tvOptions,
  examples: [
    ['signage tv', 'asks for the code; uses the service of the current context'],
    [
      'signage tv --code ABCD-2345 --state tv.json --profile lg-webos',
      'a TV that survives a restart',
    ],
    ['signage tv --claim', 'shows a claim; signage pair Lobby/Main --tv CLAIM pairs it'],
    [
      'signage tv --url https://signage.example.com --code ABCD2345 --speed 60',
      'another service, 60 times faster',
    ],
    [
      'signage tv --state tv.json --once -o ndjson',
      'for scripts: check that the service answers this TV',
    ],
  ],
  effect: 'alone',
  hints: {
    ...codeHints,
    device_key_revoked: 'This TV was revoked. Start it with a new code: --code …',
    device_key_orphaned:
      'The screen of this TV was deleted or has another TV. Start it with a new code: --code …',
    device_key_invalid: 'The service does not know this key. Start it with a new code: --code …',
  },
  run: async (call) => (await import('../tv/run-tv.ts')).runTv(call, call.options),
});

export const simulate = defineCommand({
  summary: 'Run a fleet of simulated TVs and check what the service stored',
  description: `Creates a venue, screens and pairing codes, then runs the TVs with the chosen
faults. At the end it compares the events that the service acknowledged with those it stored, and
deletes what it created. Other records are not touched. Exit codes: 0 no problem found, 9 events
were lost, duplicated or invented, a device key does not work, or a TV got no valid code, 7 the
service cannot be reached, 4 the token has too few rights, 130 interrupted (prints the report so
far).`,
  options: simulateSettings,
  examples: [
    ['signage simulate --count 100 --duration 1m', '100 TVs for a minute'],
    [
      'signage simulate --speed 600 --fault lost-answer:events:5% --fault "offline:5m every 1h"',
      'a week in a quarter of an hour, on a bad network',
    ],
    [
      'signage simulate --scenario everything --speed max -o json',
      'all faults, as fast as possible',
    ],
    [
      'signage simulate --codes codes.txt --keep tvs',
      'pairs with existing codes; the next run continues with the same TVs',
    ],
  ],
  effect: 'alone',
  run: async (call) => (await import('../simulate/run.ts')).runSimulation(call, call.options),
});

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
  run: async (call) => (await import('../record/run-record.ts')).runRecord(call, call.options),
});
