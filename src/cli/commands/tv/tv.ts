import { defineCommand } from '../../program/spec.ts';
import { tvOptions } from './tv-options.ts';

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
  run: async (call) => (await import('./run-tv.ts')).runTv(call, call.options),
});
