import { readPublication, type WrittenPublication } from '../../content/publication.ts';
import { allowOutsideOption, originHelp } from '../../examination/options.ts';
import type { CheckedFile } from '../../examination/run-check.ts';
import * as option from '../../input/option.ts';
import { defineCommand, some } from '../../program/spec.ts';
import { selectionOptions } from '../../records/select-screens.ts';

/** Takes the files of this computer out, which were examined when they were read. */
function withoutFiles({ publication, files }: WrittenPublication): CheckedFile {
  const local = files.namedIn([publication]);
  const ids = new Set(local.map(({ id }) => id));
  const items = publication.items.filter(({ sha256 }) => !ids.has(String(sha256)));
  const placeOf = (id: string) => publication.items.findIndex(({ sha256 }) => sha256 === id) + 1;
  return {
    publication: { ...publication, items },
    local: local.map((file) => ({ ...file, item: placeOf(file.id) })),
  };
}

/** `signage playlist check` */
export const check = defineCommand({
  summary: 'Check whether TVs can load the media of a playlist',
  description: `Requests each media file of a playlist from this machine. The service itself sends
no request. Checks the connection, the certificate, redirects, the status, the type, the size, ranges,
CORS and frames, and whether the file is cut, and what TVs may not play of it. Lists errors (a TV does
not show the item) and warnings (some TVs do not, show it late, keep no copy, or may freeze). docs/media.md explains each
check. With --file and screen names, checks the file against the configs and TVs of these screens.
Exit codes: 0 no error, 9 errors.`,
  arguments: { screens: some('screens whose current playlist is checked', 'screen') },
  options: {
    file: option.text(
      '-f, --file <file>',
      'check this playlist, JSON or YAML, before it is published; - reads stdin',
    ),
    allowOutside: allowOutsideOption,
    origin: option.text('--origin <url>', originHelp),
    timeout: option.duration('20s', '--timeout <time>', 'maximum time for each media file'),
    ...selectionOptions,
  },
  examples: [
    ['signage playlist check -f spring.yaml', 'a file, before it is published'],
    ['signage playlist check Lobby/Main', 'the current playlist of a screen'],
    ['signage playlist check --all --origin https://signage.example.com', 'all screens'],
    [
      `signage playlist check --all -o json --jq '.[] | select(.level == "error") | .url'`,
      'for scripts: the media with errors',
    ],
  ],
  async run(call) {
    const { file } = call.options;
    const options = { ...call.options, force: true };
    const written = file === undefined ? undefined : await readPublication(call, file, options);
    const { runCheck } = await import('../../examination/run-check.ts');
    return runCheck(call, written && withoutFiles(written));
  },
});
