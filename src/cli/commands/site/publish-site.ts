import { isDeepStrictEqual } from 'node:util';
import type { CallInput } from '../../../client/call.ts';
import { forEachBounded } from '../../../domain/concurrency.ts';
import type { SignageError } from '../../../domain/error.ts';
import { maxAttempts } from '../../connection/conditional.ts';
import type { CommandContext } from '../../program/context.ts';
import { isFatal } from '../../program/exit-code.ts';
import {
  type ChangedScreen,
  changeError,
  changeMany,
  type PlaylistChange,
} from '../../records/change-many.ts';
import { readPlaylist, requestsAtOnce } from './site-records.ts';
import type { Attributes } from './site-schema.ts';

/** A screen whose playlist differs from the files. */
export interface UnpublishedScreen extends ChangedScreen {
  /** `null`: no playlist. */
  playlist: Attributes['playlist'];
  /** Called when the playlist is as in the files, or with the error. */
  settle(error?: SignageError): void;
}

/**
 * Changes the playlists of screens, all screens with the same playlist at once. If another caller
 * changes one meanwhile, reads it again and starts over.
 */
export async function publishPlaylists(
  call: CommandContext,
  screens: readonly UnpublishedScreen[],
): Promise<void> {
  const groups = new Map<string, UnpublishedScreen[]>();
  for (const screen of screens) {
    const text = JSON.stringify(screen.playlist);
    groups.set(text, [...(groups.get(text) ?? []), screen]);
  }
  for (const group of groups.values()) {
    try {
      await publishGroup(call, group);
    } catch (error) {
      if (isFatal(error)) throw error;
      for (const screen of group) screen.settle(error as SignageError);
    }
  }
}

async function publishGroup(
  call: CommandContext,
  group: readonly UnpublishedScreen[],
): Promise<void> {
  const playlist = group[0]?.playlist as CallInput<'publishPlaylist'>['body'] | null;
  const change: PlaylistChange = playlist
    ? { action: 'publish', ...playlist }
    : { action: 'withdraw' };
  let left = group;
  for (let attempt = 1; left.length > 0; attempt++) {
    const overtaken: UnpublishedScreen[] = [];
    for await (const outcomes of changeMany(call, left, change))
      for (const { screen, outcome } of outcomes) {
        if (!('code' in outcome)) screen.settle();
        else if (outcome.code !== 'precondition_failed' || attempt === maxAttempts)
          screen.settle(changeError(outcome.code));
        else overtaken.push(screen);
      }
    left = await readAgain(call, overtaken);
  }
}

/** Returns the screens whose playlists still differ, with their versions of now. */
async function readAgain(
  call: CommandContext,
  screens: readonly UnpublishedScreen[],
): Promise<UnpublishedScreen[]> {
  const left: UnpublishedScreen[] = [];
  await forEachBounded(screens, requestsAtOnce, async (screen) => {
    const { playlist, version } = await readPlaylist(call, screen.id);
    if (isDeepStrictEqual(playlist, screen.playlist)) screen.settle();
    else left.push({ ...screen, version });
  });
  return left;
}
