import { claimRow, loginRow } from '../domain/records/rows.ts';
import { signalsRow } from '../domain/records/signals.ts';
import { ticketRow } from '../domain/tickets/rows.ts';
import { documentOf } from './document-names.ts';
import { section } from './section.ts';

/** The tables of what waits: TVs, people who log in, tickets, and signals for TVs. */
export const waitingSections = {
  signals: section({
    row: signalsRow,
    listed: true,
    // The id is `<level>/<owner id>`.
    topic: (id) => `signals/${id}`,
    document: () => 'rows-signals',
    isShortLived: true,
  }),
  tickets: section({
    row: ticketRow,
    unique: { hash: (row) => row.hash },
    indexed: ['tenantId', 'venueId', 'screenId'],
    listed: true,
    document: ({ venueId }) => documentOf.venue(venueId),
  }),
  claims: section({
    row: claimRow,
    indexed: ['shard', 'tenantId'],
    listed: true,
    filters: ['venueId'],
    topic: (id) => `claims/${id}`,
    document: () => 'rows-claims',
    isShortLived: true,
  }),
  logins: section({
    row: loginRow,
    indexed: ['shard'],
    listed: true,
    topic: (id) => `logins/${id}`,
    document: () => 'rows-logins',
    isShortLived: true,
  }),
};
