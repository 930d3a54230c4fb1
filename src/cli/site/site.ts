import type { ConfigBody } from '../../domain/records/config.ts';

/** A playlist in the form in which it is published. */
export interface SitePlaylist {
  items: readonly object[];
  /** Unix epoch seconds, or `null` for no end. */
  validUntil: number | null;
}

/** Attributes of a record. `undefined` is not compared; `null` means absent. */
export interface Attributes {
  name?: string | undefined;
  address?: string | null | undefined;
  timezone?: string | null | undefined;
  /** All labels of the record. */
  labels?: Readonly<Record<string, string>> | undefined;
  config?: ConfigBody | null | undefined;
  playlist?: SitePlaylist | null | undefined;
}

export type AttributeName = keyof Attributes;

/** Attributes of a record in a site file. */
export type NamedAttributes = Attributes & { name: string };

export interface SiteVenue extends NamedAttributes {
  screens: readonly NamedAttributes[];
}

/** All site files merged, with playlist references resolved. */
export interface Site {
  /** Set if a file has a `tenant` entry: the files then name all venues. */
  tenant: Pick<Attributes, 'name' | 'config'> | undefined;
  venues: readonly SiteVenue[];
}
