import type { Playlist, Screen } from '../domain/records.ts';

/** Where a playlist came from, as `X-Source` names it (docs/protocol.md §2.3). */
export type OriginName = 'on-demand' | 'store' | 'object-store';

/** What an origin says of a screen: a playlist, that there is none, or that there is none and that this is decided: nobody else is asked. */
type OriginAnswer = { kind: 'playlist'; playlist: Playlist } | { kind: 'none' } | { kind: 'decided-none' };

/** One place to get playlists from. A throw means that it failed, and the next one is asked. */
export interface PlaylistOrigin {
  readonly name: OriginName;
  fetch(screen: Screen): Promise<OriginAnswer>;
}

/** What the origins have said together. */
export type ChainAnswer =
  | { kind: 'playlist'; playlist: Playlist; source: OriginName }
  | { kind: 'none' }
  | { kind: 'failed'; cause: unknown };

/** All origins, asked in turn. */
export type PlaylistChain = (screen: Screen) => Promise<ChainAnswer>;
