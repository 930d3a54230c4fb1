import { defineCommand } from '../command/spec.ts';
import * as option from '../options/option.ts';
import { usage } from '../options/settings.ts';

export const command = defineCommand({
  summary: 'Make a service as files describe it',
  description:
    'Site files say which venues and screens there are, with their labels, configs and playlists; docs/site-files.md has the format. What is as described already is left alone: the same command may run any number of times, and goes on where an interrupted one ended. What the files do not name stays, unless --prune says otherwise. A record that fails does not stop the others; the exit code is then 9.',
  options: {
    file: option.repeated('-f, --file <file>', 'a site file, YAML or JSON; - for stdin'),
    allowOutside: option.flag(
      '--allow-outside',
      'let the files name playlist files outside their own folders',
    ),
    prune: option.flag(
      '--prune',
      'delete what the files do not name: screens of the venues that are named, and with an entry `tenant` venues',
    ),
    force: option.flag('--force', 'let --prune delete screens that are active, too'),
  },
  examples: [
    ['signage apply -f site.yaml', 'makes what is missing, and changes what differs'],
    ['signage apply -f site.yaml --dry-run', 'says what that would be'],
    ['signage apply -f playlists.yaml -f venues.yaml', 'several files, as if they were one'],
    [
      'signage apply -f site.yaml --prune --yes',
      'deletes what is not in the file, without asking: for scripts',
    ],
  ],
  effect: 'destroys',
  async run(call) {
    const { file: files, allowOutside, prune, force } = call.options;
    if (files.length === 0) throw usage('-f must be given: a site file, or - for stdin.');
    if (force && !prune) throw usage('--force is about what --prune deletes: give both.');
    const { applySite } = await import('../site/apply-site.ts');
    return applySite(call, { files, allowOutside, prune, force });
  },
});
