import { isDeepStrictEqual } from 'node:util';
import { invalid, SignageError } from '../../domain/error.ts';
import { checkPrecondition, type Precondition, revision } from '../../domain/etags/etag.ts';
import { foldName } from '../../domain/fold-name.ts';
import { asGuid } from '../../domain/id.ts';
import type { Page } from '../../domain/paging.ts';
import { campaignIdOf } from '../../domain/playlists/campaign.ts';
import type {
  CampaignInput,
  CampaignQuery,
  CampaignView,
} from '../../domain/playlists/campaign-record.ts';
import { campaignName } from '../../domain/playlists/playlist.ts';
import type { AuditDetails, AuditVerb } from '../../domain/records/audit.ts';
import type { Campaign } from '../../domain/records/rows.ts';
import type { Reader } from '../../store/store.ts';
import {
  type AuditChange,
  recordChange,
  type ServiceDependencies,
  type TenantPrincipal,
} from '../context.ts';
import { requireTenant } from '../lookup.ts';
import { pageFilters, toPage } from '../paging.ts';
import { namedRowId } from '../versions/versions.ts';

/** Returns the id of a campaign. */
export const idOfRow = ({ id }: { id: string }) => id.slice(id.indexOf('/') + 1);

function campaignView(row: Campaign): CampaignView {
  const { tenantId, name, client = null, from = null, to = null } = row;
  const { bookedPlays = null, bookedSeconds = null } = row;
  return { id: idOfRow(row), tenantId, name, client, from, to, bookedPlays, bookedSeconds };
}

/** Returns the name in a path. Throws `invalid_request` if no campaign can have it. */
function nameInPath(text: string): string {
  const { data, error } = campaignName.safeParse(text);
  if (data !== undefined) return data;
  throw invalid([{ path: 'path.name', message: error?.issues[0]?.message ?? 'is no name' }]);
}

/** Returns the name of a campaign that nobody has named, or that a request spells otherwise. */
function nameFor(path: string, { name }: CampaignInput, before: Campaign | undefined): string {
  const wrong = (message: string) => invalid([{ path: '/name', message }]);
  if (asGuid(path) !== undefined) {
    const known = name ?? before?.name;
    if (known === undefined)
      throw wrong('is required: no item has named the campaign with this id');
    return known;
  }
  const named = nameInPath(path);
  if (name === undefined) return before?.name ?? named;
  if (foldName(name) === foldName(named)) return name;
  throw wrong('must spell the name in the path, because the id of the campaign follows from it');
}

/** Campaigns and their bookings (docs/protocol.md §5.6). */
export function makeCampaigns(deps: ServiceDependencies) {
  const { store } = deps;
  const change = (
    verb: AuditVerb<'campaign'>,
    row: Campaign,
    details: AuditDetails,
  ): AuditChange => ({
    action: `campaign.${verb}`,
    subject: { kind: 'campaign', id: idOfRow(row) },
    tenantId: row.tenantId,
    details,
  });
  const rowIdOf = (tenantId: string, name: string) =>
    namedRowId(tenantId, asGuid(name) ?? campaignIdOf(tenantId, name));

  /** A campaign concerns the tenant as a whole: callers bound to venues see none. */
  async function list(
    { tenantId, venueIds }: TenantPrincipal,
    query: CampaignQuery,
    signal?: AbortSignal,
  ): Promise<Page<CampaignView>> {
    const { after, ...filters } = pageFilters(query, signal);
    const { items, next } = await store.list('campaigns', {
      where: { tenantId, ...(venueIds && { id: [] }) },
      ...filters,
      ...(after !== undefined && { after: namedRowId(tenantId, after) }),
    });
    return toPage({ items, next: next && idOfRow({ id: next }) }, campaignView);
  }

  /** Throws `campaign_not_found`. */
  async function lookUp(
    reader: Pick<Reader, 'get'>,
    { tenantId, venueIds }: TenantPrincipal,
    name: string,
  ): Promise<Campaign> {
    const row = venueIds ? undefined : await reader.get('campaigns', rowIdOf(tenantId, name));
    if (row) return row;
    throw new SignageError('campaign_not_found', 'There is no campaign with this name or id.');
  }

  async function get(principal: TenantPrincipal, name: string): Promise<CampaignView> {
    return campaignView(await lookUp(store.read, principal, name));
  }

  /** Stores a booking. Storing the same booking again has no effect. */
  async function put(
    principal: TenantPrincipal,
    path: string,
    input: CampaignInput,
    precondition: Precondition = {},
  ): Promise<CampaignView> {
    const { tenantId } = principal;
    return deps.write(principal, async (tx) => {
      await requireTenant(tx, principal);
      const id = rowIdOf(tenantId, path);
      const before = await tx.get('campaigns', id);
      const name = nameFor(path, input, before);
      checkPrecondition(precondition, before && revision.campaign(campaignView(before)));
      const given = Object.entries(input).filter(([, value]) => value != null);
      const row: Campaign = { ...Object.fromEntries(given), id, tenantId, name };
      const view = campaignView(row);
      if (isDeepStrictEqual(row, before)) return view;
      await tx.put('campaigns', row);
      const { id: _id, tenantId: _tenant, ...details } = view;
      await recordChange(deps, tx, principal, change('set', row, details));
      return view;
    });
  }

  async function remove(
    principal: TenantPrincipal,
    name: string,
    precondition: Precondition = {},
  ): Promise<void> {
    await deps.write(principal, async (tx) => {
      const row = await lookUp(tx, principal, name);
      checkPrecondition(precondition, revision.campaign(campaignView(row)));
      await tx.delete('campaigns', row.id);
      await recordChange(deps, tx, principal, change('delete', row, { name: row.name }));
    });
  }

  return { list, get, put, remove };
}
