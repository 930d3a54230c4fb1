import { shardNames } from './shard.ts';

/** A fleet of 100,000 has about 100 screens per document. A registration changes one document. */
export const screenShards = 1024;

/**
 * Prefix of the playlist documents. Playlists are most of the bytes and change independently, so
 * they have their own documents. A start does not parse them: each line is a row that begins with
 * its id, the screen's id, and is parsed on demand.
 */
export const playlistDocuments = 'rows-playlists';

/** Returns the name of the document that holds a screen's playlist. */
export const playlistDocument = shardNames(playlistDocuments, screenShards);
