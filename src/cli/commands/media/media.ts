import type { Media } from '../../../client/entities.ts';
import { SignageError } from '../../../domain/error.ts';
import { forceOption, publishCheckOptions } from '../../examination/options.ts';
import * as option from '../../input/option.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { defineCommand, many, one } from '../../program/spec.ts';
import { forEachRecord } from '../../records/for-each-record.ts';
import { selectionOptions } from '../../records/select-screens.ts';
import { mediaView } from '../../records/views/media-view.ts';
import { countText } from '../../terminal/text.ts';

/** `signage show` */
export const show = defineCommand({
  summary: 'Put pictures, videos and pages on a screen',
  description: `Uploads the files that the service does not have yet, and publishes them as the
playlist of the screen, in the order of the command line. A folder stands for its files, in the order
of their names. URLs are published as they are. Without files, lists what the screen shows now.

Pictures and pages stay for 10 seconds, videos for their own length. --duration sets another time for
all. The files may be PNG, JPEG, WebP, GIF, AVIF, SVG, MP4, WebM and single HTML pages.

Files and URLs are examined first: what no TV shows is refused, and what some TVs do not show is
warned of. The new items replace the playlist of the screen; with --add they follow it. At a terminal, the
command waits up to 60 seconds until the TV has them. With --venue or --selector, all words are
files.`,
  arguments: { what: many('the screen, by name or id, then files, folders or URLs', 'screen') },
  options: {
    duration: option.optionalDuration(
      '--duration <time>',
      'how long each item stays, such as 15s; default: 10s, and the length of a video',
    ),
    campaign: option.text(
      '--campaign <name>',
      'the campaign whose plays are counted in reports, such as summer',
    ),
    subtitles: option.text(
      '--subtitles <url>',
      'the URL of a WebVTT file with the subtitles of the video; its host must allow other origins',
    ),
    add: option.flag('--add', 'keep the present items, and append the new ones'),
    validUntil: option.text(
      '--valid-until <time>',
      'when the playlist ends: local time, ISO 8601, epoch seconds or a time span such as 7d',
    ),
    ...publishCheckOptions,
    wait: option.optionalDuration(
      '--wait <time>',
      'wait until the TVs have been given the items, at most this long; 0: do not wait; default: 60s at a terminal, otherwise 0',
    ),
    ...selectionOptions,
  },
  examples: [
    ['signage show Lobby/Main welcome.png offer.mp4', 'a picture and a video on one screen'],
    ['signage show --venue Lobby menu.html --duration 30s', 'a page on all screens of a venue'],
    ['signage show Lobby/Main summer/', 'all files of a folder'],
    ['signage show Lobby/Main offer.mp4 --campaign summer', 'counted for the campaign "summer"'],
    ['signage show Lobby/Main https://cdn.example.com/a.jpg --add', 'a URL, after the other items'],
    ['signage show Lobby/Main', 'what the screen shows now'],
  ],
  effect: 'changes',
  async run(call) {
    return (await import('./run-show.ts')).runShow(call);
  },
});

/** Finds media by id, by the beginning of an id, or by name. */
async function findMedia(call: CommandContext, word: string): Promise<Media> {
  const all = await call.all('listMedia');
  const matches = all.filter(
    ({ id, name }) => name === word || (/^[0-9a-f]{8,64}$/.test(word) && id.startsWith(word)),
  );
  const [found] = matches;
  if (found && matches.length === 1) return found;
  throw new SignageError(
    'media_not_found',
    found
      ? `"${word}" matches ${countText(matches.length, 'file')}: ${matches.map(({ id, name }) => `${id.slice(0, 8)} (${name})`).join(', ')}.`
      : `No file has the name or id "${word}".`,
    { hint: found ? 'Name it by the beginning of its id.' : 'signage media list shows all files.' },
  );
}

const add = defineCommand({
  summary: 'Upload pictures, videos and pages, without showing them',
  description: `Files that no TV shows, such as cut ones, are refused. Files that the service has
already are not sent again: it compares its bytes with their SHA-256, and takes a damaged file anew. An
upload that broke off goes on where it stopped, if you run the command again within 3 minutes. signage
show uploads and publishes in one step.`,
  arguments: { files: many('files to upload') },
  options: { force: forceOption },
  examples: [
    ['signage media add welcome.png', 'a picture'],
    ['signage media add *.mp4 -o name', 'prints the ids'],
  ],
  effect: 'changes',
  async run(call) {
    const { MediaFiles } = await import('../../content/media-files.ts');
    const { uploadMedia } = await import('../../content/upload.ts');
    const { force } = call.options;
    const files = new MediaFiles(call, { allowOutside: true, force });
    const local = [];
    for (const path of call.args.files) local.push(await files.read(path));
    files.warn(call, local);
    await uploadMedia(call, local, { verifies: true });
    if (call.common.dryRun) return;
    const records: Media[] = [];
    for (const { id } of local) records.push(await call.read('getMedia', { params: { id } }));
    await call.results.list([records], mediaView);
  },
});

const list = defineCommand({
  summary: 'List the media files of the service',
  options: { unused: option.flag('--unused', 'only files that no playlist names') },
  examples: [
    ['signage media list', 'all files, by name'],
    ['signage media list --unused -o name', 'the ids of files that no playlist names'],
  ],
  list: true,
  async run(call) {
    if (!call.options.unused) {
      await call.list('listMedia', mediaView);
      return;
    }
    const all = await call.all('listMedia');
    await call.results.list([all.filter(({ usedBy }) => usedBy === 0)], mediaView);
  },
});

const get = defineCommand({
  summary: 'Show a media file of the service',
  arguments: { media: one('its name, its id, or the beginning of its id') },
  examples: [['signage media get welcome.png', 'type, size, URL and number of screens']],
  async run(call) {
    await call.results.record(await findMedia(call, call.args.media), mediaView);
  },
});

const cacheNote =
  'Players and caches may keep a public file for up to a year. The service forgets it within an hour.';

const remove = defineCommand({
  summary: 'Delete media files',
  description: `Files that a kept version of a playlist names are not deleted without --force: TVs
with such a playlist could not load them any more.`,
  arguments: { media: many('their names, ids, or the beginnings of their ids') },
  options: { force: option.flag('--force', 'also if a playlist names them') },
  examples: [['signage media delete welcome.png', 'asks first']],
  effect: 'destroys',
  async run(call) {
    const { force } = call.options;
    const found: Media[] = [];
    for (const word of call.args.media) found.push(await findMedia(call, word));
    await call.confirmDestruction(
      `Delete ${countText(found.length, 'file')}: ${found.map(({ name }) => `"${name}"`).join(', ')}?`,
    );
    return deleteMedia(call, found, force);
  },
});

async function deleteMedia(call: CommandContext, found: readonly Media[], force: boolean) {
  let deleted = 0;
  const exitCode = await forEachRecord(call, found, async ({ id }) => {
    const query = force ? { query: { force: 'true' as const } } : {};
    const made = await call.change('deleteMedia', { params: { id }, ...query });
    if (made) deleted++;
    return made && 'deleted';
  });
  if (deleted > 0) call.note(cacheNote);
  return exitCode;
}

const prune = defineCommand({
  summary: 'Delete media files that no playlist names',
  options: {
    unused: option.flag('--unused', 'required, so that it is clear which files go'),
    olderThan: option.duration('30d', '--older-than <time>', 'only files that are this old'),
  },
  examples: [['signage media prune --unused --older-than 30d', 'asks first']],
  effect: 'destroys',
  async run(call) {
    const { unused, olderThan } = call.options;
    if (!unused)
      throw usage('Say --unused: the command deletes only files that no playlist names.');
    const before = call.clock.now() - olderThan;
    const all = await call.all('listMedia');
    const found = all.filter(
      ({ usedBy, createdAt }) => usedBy === 0 && Date.parse(createdAt) <= before,
    );
    if (found.length === 0) {
      call.note('There is no unused file of this age.');
      return 0;
    }
    await call.confirmDestruction(`Delete ${countText(found.length, 'unused file')}?`);
    return deleteMedia(call, found, false);
  },
});

const verify = defineCommand({
  summary: 'Check that the service still has the bytes of its media files',
  description: `Reads every file of the tenant as a TV does, and compares its SHA-256 with its id. A
file is missing or changed after its media folder was lost, or restored from another day. Exit codes:
0 all files are intact, 9 a file is missing or changed. Changes nothing.`,
  examples: [
    ['signage media verify', 'after a restore of the media folder'],
    ['signage media verify -o json', 'for scripts'],
  ],
  async run(call) {
    const { verifyMedia } = await import('./verify.ts');
    const all = await call.all('listMedia');
    if (all.length === 0) call.note('The service has no media files.');
    return forEachRecord(call, all, (file) => verifyMedia(call, file));
  },
});

export const media = { add, list, get, delete: remove, prune, verify };
