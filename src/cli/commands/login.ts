import { defineCommand } from '../command/spec.ts';
import * as option from '../options/option.ts';

export const command = defineCommand({
  summary: 'Save the token of a service',
  description: `At a terminal, asks for the token without showing it. In scripts, use --token-stdin
or --token-file. Never put the token in the command line: everyone on this machine could read it.
The token is checked, then saved in a file that only you can read. Later commands use it. --context
names the saved context. Default: the host name. The token is sent only to this service.`,
  options: { tokenStdin: option.flag('--token-stdin', 'read the token from stdin') },
  examples: [
    ['signage login', 'asks for the service and the token'],
    ['signage login --url https://signage.example.com --context work', 'asks for the token'],
    ['signage login --url https://signage.example.com --token-stdin < token.txt', 'for scripts'],
  ],
  effect: 'reads',
  run: async (call) => (await import('../api/login.ts')).logIn(call, call.options.tokenStdin),
});
