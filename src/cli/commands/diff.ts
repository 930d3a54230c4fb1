import { defineCommand } from '../command/spec.ts';
import * as option from '../options/option.ts';
import { usage } from '../options/settings.ts';

export const command = defineCommand({
  summary: 'Show what apply would change',
  description:
    'Each place in which a record differs from the site files, with what is there and what the files say. The exit code is 0 when nothing differs, and 9 when something does.',
  options: {
    file: option.repeated('-f, --file <file>', 'a site file, YAML or JSON; - for stdin'),
    allowOutside: option.flag(
      '--allow-outside',
      'let the files name playlist files outside their own folders',
    ),
    prune: option.flag('--prune', 'show what apply --prune would delete, too'),
  },
  examples: [
    ['signage diff -f site.yaml', 'what apply would change'],
    ['signage diff -f site.yaml --prune', 'and what it would delete'],
    [
      'signage diff -f site.yaml --quiet > /dev/null && echo "as described"',
      'by the exit code, for scripts',
    ],
  ],
  effect: 'reads',
  async run(call) {
    const { file: files, allowOutside, prune } = call.options;
    if (files.length === 0) throw usage('-f must be given: a site file, or - for stdin.');
    const { showDifferences } = await import('../site/apply-site.ts');
    return showDifferences(call, { files, allowOutside, prune });
  },
});
