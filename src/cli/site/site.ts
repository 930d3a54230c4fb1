import type { ConfigBody } from '../../domain/records/config.ts';

/** What a screen plays, as it is published. */
export interface SitePlaylist {
  items: readonly object[];
  /** Unix epoch seconds; `null` for no end. */
  validUntil: number | null;
}

/** What can be said of a record. What is left out is not relevantVenues at; `null` is none. */
export interface Attributes {
  name?: string | undefined;
  address?: string | null | undefined;
  timezone?: string | null | undefined;
  /** All of them. */
  labels?: Readonly<Record<string, string>> | undefined;
  config?: ConfigBody | null | undefined;
  playlist?: SitePlaylist | null | undefined;
}

export type AttributeName = keyof Attributes;

/** What a file may say of a record under its name. */
export type NamedAttributes = Attributes & { name: string };

export interface SiteVenue extends NamedAttributes {
  screens: readonly NamedAttributes[];
}

/** What site files say, all together: their playlists are put where they are named. */
export interface Site {
  /** There when a file speaks of the tenant: then its venues are all named. */
  tenant: Pick<Attributes, 'name' | 'config'> | undefined;
  venues: readonly SiteVenue[];
}
