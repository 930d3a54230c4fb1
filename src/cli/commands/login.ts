import { defineCommand } from '../command/spec.ts';
import * as option from '../options/option.ts';

export const command = defineCommand({
  summary: 'Save the token of a service',
  description: `Asks for the token at a terminal, without showing it; elsewhere --token-stdin or --token-file hands it in: a command line
is no place for it, as everybody on the machine can read it. The token is checked, then kept in a file that only you can
read, under the name that --context gives or the name of the host, and used from then on. It is sent to that service only.`,
  options: { tokenStdin: option.flag('--token-stdin', 'read the token from stdin') },
  examples: [
    ['signage login', 'asks for the service and the token'],
    ['signage login --url https://signage.example.com --context work', 'asks for the token'],
    ['signage login --url https://signage.example.com --token-stdin < token.txt', 'for scripts'],
  ],
  effect: 'reads',
  run: async (call) => (await import('../api/login.ts')).logIn(call, call.options.tokenStdin),
});
