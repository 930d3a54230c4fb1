import * as option from '../input/option.ts';

export const originHelp =
  'address at which TVs reach the service and its player; default: the URL of the service';

export const allowOutsideOption = option.flag(
  '--allow-outside',
  'allow media files outside the folder of the playlist file',
);

export const forceOption = option.flag(
  '--force',
  'also if no TV shows it: a cut file, a URL that answers with an error, a page that forbids frames',
);

/** Options of `playlist publish` for the same check. */
export const publishCheckOptions = {
  check: option.flag(
    '--check',
    'first check the media as playlist check does; publish nothing if it finds an error',
  ),
  origin: option.text('--origin <url>', `with --check: ${originHelp}`),
  force: forceOption,
};
