import { simulateSettings } from '../../input/simulation-options.ts';
import { defineCommand } from '../../program/spec.ts';

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
  run: async (call) => (await import('./run.ts')).runSimulation(call, call.options),
});
