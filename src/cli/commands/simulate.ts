import { defineCommand } from '../command/spec.ts';
import { simulateSettings } from '../simulate/options.ts';

export const command = defineCommand({
  summary: 'Let simulated TVs live with a service, and see whether it keeps its word',
  description: `Makes a venue, screens and codes for them, lets the TVs play and report with whatever is to go wrong, compares in the end what the service
acknowledged with what it has stored, and takes away again what it made. It touches nothing else.
Exit codes: 0 all is well, 9 events were lost, stored twice or made up, a TV's key does not work, or TVs found no good code, 7 the service cannot be reached,
4 the token does not suffice, 130 interrupted (the report so far is printed).`,
  options: simulateSettings,
  examples: [
    ['signage simulate --count 100 --duration 1m', 'on the service of the current context'],
    [
      'signage simulate --speed 600 --fault lost-answer:events:5% --fault "offline:5m every 1h"',
      'a week in a quarter of an hour, on a bad network',
    ],
    [
      'signage simulate --scenario everything --speed max -o json',
      'everything that can go wrong, without waiting',
    ],
    [
      'signage simulate --codes codes.txt --keep tvs',
      'with codes of real screens; the same TVs again at the next run',
    ],
  ],
  effect: 'alone',
  run: async (call) => (await import('../simulate/run.ts')).runSimulation(call, call.flags),
});
