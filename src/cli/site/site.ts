import type { ConfigBody } from '../../domain/records/config.ts';

/** What a screen plays, as it is published. */
export interface SitePlaylist {
  items: readonly object[];
  /** Unix epoch seconds; `null` for no end. */
  validUntil: number | null;
}

/** What can be said of a record. What is left out is not looked at; `null` is none. */
export interface Facts {
  name?: string | undefined;
  address?: string | null | undefined;
  timezone?: string | null | undefined;
  /** All of them. */
  labels?: Readonly<Record<string, string>> | undefined;
  config?: ConfigBody | null | undefined;
  playlist?: SitePlaylist | null | undefined;
}

export type FactName = keyof Facts;

/** What a file may say of a record under its name. */
export type Named = Facts & { name: string };

export interface SiteVenue extends Named {
  screens: readonly Named[];
}

/** What site files say, all together: their playlists are put where they are named. */
export interface Site {
  /** There when a file speaks of the tenant: then its venues are all named. */
  tenant: Pick<Facts, 'name' | 'config'> | undefined;
  venues: readonly SiteVenue[];
}
