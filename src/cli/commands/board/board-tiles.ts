import type { BoardTile } from '../../../domain/conditions/board-state.ts';
import { clockText, mutedText, type NamedStatus, playlistText } from '../../glass/fleet-status.ts';
import { playingText, switchText } from '../../glass/layer-texts.ts';
import type { Flags } from '../../input/settings.ts';
import { connectionOptions } from '../../input/shared.ts';
import { lookOfState } from '../../output/table.ts';
import { isPrintable } from '../../terminal/escape.ts';
import { shellQuote } from '../../terminal/text.ts';

export interface TileOptions {
  /** URL of the service, without a trailing slash. */
  serviceUrl: string;
  hasPreviews: boolean;
  /** What somebody types to run this program. */
  program: string;
  /** The connection flags that commands need, with a leading space: ` --context work`. */
  flags: string;
}

/** Returns the given connection flags as the end of a command. None of them is a secret. */
export function connectionFlags(given: Flags): string {
  const words = Object.entries(connectionOptions).flatMap(([name, { flags }]) => {
    const value = given[name];
    if (value === undefined || value === false) return [];
    const [flag = ''] = flags.split(' ');
    return value === true ? [flag] : [flag, shellQuote(String(value))];
  });
  return words.map((word) => ` ${word}`).join('');
}

/** Returns the URL of an item that a page can show, with the type of its element. */
function previewOf({ playing }: NamedStatus, serviceUrl: string): BoardTile['preview'] {
  const { creativeUrl: url = null, creativeType: type = null } = playing ?? {};
  if (url === null || (type !== 'image' && type !== 'video')) return null;
  return { url: url.startsWith('/') ? `${serviceUrl}${url}` : url, type };
}

function commandFor({ condition, name, screen }: NamedStatus, options: TileOptions) {
  if (condition === 'playing') return null;
  const isTyped = isPrintable(name) && !name.startsWith('-');
  const verb = condition === 'unpaired' ? 'pair' : 'doctor';
  return `${options.program} ${verb} ${shellQuote(isTyped ? name : screen.id)}${options.flags}`;
}

/** Returns what the page shows of a screen. The page gets nothing else of the record. */
function boardTile(status: NamedStatus, options: TileOptions): BoardTile {
  const { condition, screen, venueName, device, reason, errors, since } = status;
  const [error] = errors;
  const look = lookOfState('condition', condition);
  return {
    id: screen.id,
    venueId: screen.venueId,
    venue: venueName,
    screen: screen.name,
    condition,
    tone: look === 'bad' || look === 'warning' || look === 'good' ? look : 'faint',
    since,
    reason: reason?.text ?? null,
    playing: [playingText(status), switchText(status)].filter(Boolean).join(' – ') || null,
    preview: options.hasPreviews ? previewOf(status, options.serviceUrl) : null,
    version: playlistText(status),
    given: device?.lastPlaylistVersion ?? null,
    lastSeenAt: device?.lastSeenAt ?? null,
    lastError: error ? { at: error.at, item: error.name ?? error.creativeId } : null,
    clock: clockText(status),
    sound: mutedText(status),
    command: commandFor(status, options),
  };
}

const byName = new Intl.Collator('en', { numeric: true });

/** Returns the tiles of screens. Those that are well come last, by their names. */
export function boardTiles(screens: readonly NamedStatus[], options: TileOptions): BoardTile[] {
  const tiles = screens.map((screen) => boardTile(screen, options));
  const well = tiles
    .filter(({ tone }) => tone === 'good')
    .sort(
      (one, other) =>
        byName.compare(one.venue, other.venue) || byName.compare(one.screen, other.screen),
    );
  return [...tiles.filter(({ tone }) => tone !== 'good'), ...well];
}
