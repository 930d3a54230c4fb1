import { defineCommand } from '../command/spec.ts';
import { tvOptions } from '../tv/tv-options.ts';

export const command = defineCommand({
  summary: 'Be one TV, to see what a TV sees',
  description: `Registers with a pairing code, then plays, reports and keeps to its config as docs/protocol.md asks of a TV, and shows what it does; it needs
no management token. At a terminal it asks for the code, and for the next one when its key is lost. With --state it is the same TV
again after a restart, however it ended. docs/simulator.md says more.
Exit codes: 0 --duration or --once is over, 2 no code and nobody to ask, 3 unknown code, 4 the key was refused, 5 used or expired code, or
the state file is in use, 6 the state file is damaged, 7 the service cannot be reached to register, 130 Ctrl-C.`,
  options: tvOptions,
  examples: [
    ['signage tv', 'asks for the code; on the service of the current context'],
    [
      'signage tv --code ABCD-2345 --state tv.json --profile lg-webos',
      'one that can be switched off and on again',
    ],
    [
      'signage tv --url https://signage.example.com --code ABCD2345 --speed 60',
      'somewhere else, an hour a minute',
    ],
    [
      'signage tv --state tv.json --once -o ndjson',
      'for scripts: is the service there for this TV?',
    ],
  ],
  effect: 'alone',
  hints: {
    device_key_revoked: 'Somebody has revoked this TV. Start it with a new code: --code …',
    device_key_orphaned:
      'The screen of this TV is gone, or has another. Start it with a new code: --code …',
    device_key_invalid: 'The service does not know this key. Start it with a new code: --code …',
    pairing_code_not_found: 'signage code create, or signage pair, makes one.',
    pairing_code_used: 'signage code create, or signage pair, makes another.',
    pairing_code_expired: 'signage code create, or signage pair, makes another.',
    pairing_code_cancelled: 'signage code create, or signage pair, makes another.',
  },
  run: async (call) => (await import('../tv/run-tv.ts')).runTv(call, call.options),
});
