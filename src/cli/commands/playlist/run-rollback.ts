import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SignageError } from '../../../domain/error.ts';
import type { PlaylistView as Playlist } from '../../../domain/playlists/playlist.ts';
import { contextFile } from '../../connection/contexts.ts';
import { usage } from '../../input/settings.ts';
import { readLocalEnd } from '../../input/time.ts';
import type { CommandContext } from '../../program/context.ts';
import { hasFilter, isSingle, type Selected, selectScreens } from '../../records/select-screens.ts';
import { playlistView } from '../../records/views/playlist-views.ts';
import { shellQuote } from '../../terminal/text.ts';
import { zoneOfScreens } from '../../times/venue-zone.ts';
import {
  formerContent,
  type NewEnd,
  type RolledBack,
  rollBackAll,
  rollBackOne,
} from './rollback.ts';

function readVersion(text: string): number {
  const [, digits] = /^v?([1-9]\d{0,14})$/.exec(text) ?? [];
  if (digits === undefined)
    throw usage(
      text === ''
        ? 'The version is missing.'
        : `The last word is the version: a whole number such as 3, or previous, not "${text}".`,
      text.includes('/')
        ? `Did you mean signage playlist rollback ${shellQuote(text)} previous?`
        : 'Did you mean previous, the version before the current one?',
    );
  return Number(digits);
}

/**
 * Returns the default of `--state`: a new file beside the saved contexts, named after the time.
 * Without a home folder, it is in the current folder.
 */
async function newStateFile({ io, clock, common }: CommandContext): Promise<string> {
  const contexts = await contextFile(io);
  const folder = contexts === undefined ? '' : dirname(contexts);
  if (folder !== '' && !common.dryRun) await mkdir(folder, { recursive: true, mode: 0o700 });
  const time = new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '-');
  return join(folder, `rollback-${time}.json`);
}

function find(versions: readonly Playlist[], wanted: number, screen: string): Playlist {
  const found = versions.find(({ version }) => version === wanted);
  if (found) return found;
  const kept = versions.map(({ version }) => version).join(', ');
  const message = `There is no version ${wanted} of the playlist of "${screen}"${kept && `. Kept versions: ${kept}`}.`;
  throw new SignageError('playlist_not_found', message, {
    hint: `signage playlist history ${shellQuote(screen)} shows all versions.`,
  });
}

/** Publishes the content of a numbered version. Returns `undefined` under `--dry-run`. */
async function rollBackTo(
  call: CommandContext,
  { id, name }: Selected,
  wanted: number,
  end: NewEnd,
): Promise<RolledBack | undefined> {
  const versions = await call.all('listPlaylistVersions', { params: { id } });
  const body = formerContent(call, find(versions, wanted, name), end);
  const made = await call.change('publishPlaylist', { params: { id }, body });
  if (!made) return undefined;
  const playlist = made.answer;
  return { playlist, from: wanted, isNew: playlist.version !== versions[0]?.version };
}

/** Runs `signage playlist rollback`. Its arguments end with the version. */
export async function runRollback(call: CommandContext): Promise<number> {
  const { validUntil } = call.options;
  const names = call.args.target.slice(0, -1);
  const version = call.args.target.at(-1) ?? '';
  const wanted = version === 'previous' ? undefined : readVersion(version);
  const end =
    validUntil === undefined
      ? undefined
      : await readLocalEnd(
          zoneOfScreens(call, () => selectScreens(call, names)),
          validUntil,
          call.clock.now(),
        );
  const isMany = !isSingle(call, names);
  const severalAtOnce = isMany && (names.length > 0 || hasFilter(call));
  const state = call.options.state ?? (severalAtOnce ? await newStateFile(call) : undefined);
  if (wanted !== undefined && (isMany || state !== undefined))
    throw usage(
      isMany
        ? `Version numbers differ between screens: for several screens, give previous instead of ${wanted}.`
        : '--state works only with previous.',
    );
  if (state !== undefined)
    return rollBackAll({ ...call, options: { ...call.options, state } }, names, end);
  const { single } = await selectScreens(call, names);
  if (!single) return 0;
  const done =
    wanted === undefined
      ? await rollBackOne(call, single, end)
      : await rollBackTo(call, single, wanted, end);
  if (!done) return 0;
  call.note(
    done.isNew
      ? `Published the content of version ${done.from} on "${single.name}" as version ${done.playlist.version}.`
      : `Nothing to do: "${single.name}" already has this content.`,
  );
  await call.results.record(done.playlist, playlistView(call, done.playlist, single.screen));
  return 0;
}
