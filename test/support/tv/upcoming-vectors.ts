import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ActivePlaylist } from '../../../src/client/entities.ts';

/** What a TV with this playlist plays at these times (docs/conformance.md). */
interface UpcomingVector {
  title: string;
  playlist: ActivePlaylist;
  /** Times by the clock of the service, in Unix epoch seconds. */
  at: number[];
  /** The `name` of the item that plays at each time. `null`: nothing plays. */
  plays: (string | null)[];
  /** The `entryId` of its events. */
  entryIds: (string | null)[];
}

const folder = fileURLToPath(new URL('../../../fixtures/upcoming/', import.meta.url));

/** The vectors of `fixtures/upcoming`. */
export const upcomingVectors = readdirSync(folder).map((file): UpcomingVector => {
  return JSON.parse(readFileSync(`${folder}${file}`, 'utf8'));
});
