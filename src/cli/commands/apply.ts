import { defineCommand } from '../command/spec.ts';
import * as option from '../options/option.ts';
import { usage } from '../options/settings.ts';

export const command = defineCommand({
  summary: 'Apply site files to a service',
  description: `Site files describe venues and screens with their labels, configs and playlists;
docs/site-files.md has the format. Records that already match are not changed. Run the same command
again at any time; after an interruption it continues. Records that the files do not name are kept
unless you give --prune. One failed record does not stop the others; the exit code is then 9.`,
  options: {
    file: option.repeated('-f, --file <file>', 'a site file, YAML or JSON; - for stdin'),
    allowOutside: option.flag(
      '--allow-outside',
      'allow playlist files outside the folder of the site file',
    ),
    prune: option.flag(
      '--prune',
      'delete screens that the files do not name; also venues, if the files have a `tenant` entry',
    ),
    force: option.flag('--force', 'with --prune: also delete active screens'),
  },
  examples: [
    ['signage apply -f site.yaml', 'creates what is missing and updates what differs'],
    ['signage apply -f site.yaml --dry-run', 'shows the changes without making them'],
    ['signage apply -f playlists.yaml -f venues.yaml', 'several files, read as one'],
    [
      'signage apply -f site.yaml --prune --yes',
      'for scripts: deletes what is not in the file, without asking',
    ],
  ],
  effect: 'destroys',
  async run(call) {
    const { file: files, allowOutside, prune, force } = call.options;
    if (files.length === 0) throw usage('Give a site file with -f, or -f - for stdin.');
    if (force && !prune) throw usage('--force works only together with --prune.');
    const { applySite } = await import('../site/apply-site.ts');
    return applySite(call, { files, allowOutside, prune, force });
  },
});
