import type { TableName } from '../../sections.ts';
import type { DamagedRows } from './damaged-rows.ts';
import type { FolderFindings } from './finding.ts';

/** By table: the rows that its rows belong to, and how they name them. */
const parents: readonly [table: TableName, parent: TableName, member: string][] = [
  ['tokens', 'tenants', 'tenantId'],
  ['venues', 'tenants', 'tenantId'],
  ['screens', 'venues', 'venueId'],
  ['devices', 'screens', 'screenId'],
  ['playlists', 'screens', 'id'],
  ['playlists', 'contents', 'contentId'],
];

/** Reports rows whose parents are lost. They stay, because what they say is whole. */
export function reportLostParents(rows: DamagedRows, findings: FolderFindings): void {
  for (const [section, parent, member] of parents) {
    const has = (id: string) =>
      rows.all(parent).has(id) || (parent === 'contents' && rows.all('pastContents').has(id));
    for (const { row } of rows.all(section).values()) {
      const id = (row as Record<string, unknown>)[member];
      if (typeof id === 'string' && !has(id))
        findings.note('documents', `${row.id} stays, but ${id} of ${parent} is lost`, { section });
    }
  }
}
