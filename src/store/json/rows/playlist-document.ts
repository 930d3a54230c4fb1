import { shardNames } from './shard.ts';

/** A fleet of 100,000 has about 100 screens in a document, and a registration changes one document. */
export const screenShards = 1024;

/**
 * Playlists are most of the bytes and change apart from the rest. They have documents of their own, which a start does not parse: a line is a row, its id
 * (which is its screen's) first, and is parsed when it is read.
 */
export const playlistDocuments = 'rows-playlists';

/** The document that a screen's playlist lies in. */
export const playlistDocument = shardNames(playlistDocuments, screenShards);
