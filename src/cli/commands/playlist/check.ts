import type { Publication } from '../../../domain/playlists/playlist.ts';
import { readPublication, type WrittenPublication } from '../../content/publication.ts';
import { allowOutsideOption, originHelp } from '../../examination/options.ts';
import * as option from '../../input/option.ts';
import type { CommandContext } from '../../program/context.ts';
import { defineCommand, some } from '../../program/spec.ts';
import { selectionOptions } from '../../records/select-screens.ts';
import { countText } from '../../terminal/text.ts';

/** Leaves the files of this computer out, which were checked when they were read. */
function withoutFiles(
  call: CommandContext,
  { publication, files }: WrittenPublication,
): Publication {
  const local = files.namedIn([publication]);
  if (local.length === 0) return publication;
  for (const { path, video } of local)
    if (video?.flaw !== undefined) call.note(`Warning: ${path} ${video.flaw}`);
  call.note(`${countText(local.length, 'file')} of this computer can be shown.`);
  const ids = new Set(local.map(({ id }) => id));
  const items = publication.items.filter(({ sha256 }) => !ids.has(String(sha256)));
  return { ...publication, items };
}

/** `signage playlist check` */
export const check = defineCommand({
  summary: 'Check whether TVs can load the media of a playlist',
  description: `Requests each media file of a playlist from this machine, and reads only its
beginning. The service itself sends no request. Checks the connection, the certificate, redirects,
the status, the type, the size, ranges, CORS and frames. Lists errors (a TV does not show the item)
and warnings (a TV shows it late, keeps no copy, or may freeze). docs/media.md explains each
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
    const written =
      file === undefined ? undefined : await readPublication(call, file, call.options);
    return (await import('../../examination/run-check.ts')).runCheck(
      call,
      written && withoutFiles(call, written),
    );
  },
});
