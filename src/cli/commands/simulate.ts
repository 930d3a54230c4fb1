import { defineCommand } from '../command-spec.ts';
import { simulateSettings } from '../simulate-settings.ts';

export const command = defineCommand({
  summary: 'Let simulated TVs loose on a service, and tally what happens',
  description: `It uses screens labelled simulated=true only, and leaves all others alone.
Exit codes: 0 all went well, 9 something failed, 7 the service cannot be reached, 4 the token does not suffice.`,
  options: simulateSettings,
  examples: [
    ['SIGNAGE_TOKEN=mak_… signage simulate --count 100', 'on this machine'],
    ['signage simulate --url https://signage.example.com --token-file token.txt --venue Rehearsal -o json', 'somewhere else'],
  ],
  effect: 'alone',
  run: async (call) => (await import('../run-simulation.ts')).runSimulation(call, call.flags),
});
