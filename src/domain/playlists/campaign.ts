import { foldName } from '../fold-name.ts';
import { asGuid, nameGuid } from '../id.ts';
import { campaignName, type Publication } from './playlist.ts';

/** A campaign or creative that an item names. */
export interface Named {
  /** A UUID in lower case. */
  id: string;
  name: string;
}

/**
 * Returns the id of a campaign by its name, the same for all spellings of the name that differ only
 * in case, kinds of spaces and Unicode normal form (docs/protocol.md §5.4).
 */
export function campaignIdOf(tenantId: string, name: string): string {
  return nameGuid(Buffer.from(tenantId.replaceAll('-', ''), 'hex'), foldName(name));
}

/** Adds the ids of campaigns that items name without an id. TVs report the id. */
export function withCampaignIds(
  tenantId: string,
  items: Publication['items'],
): Publication['items'] {
  return items.map((item) =>
    item.campaign === undefined || item.campaignId != null
      ? item
      : { ...item, campaignId: campaignIdOf(tenantId, item.campaign) },
  );
}

/** The opposite of `withCampaignIds`: ids that follow from a name are left out. */
export function withoutDerivedIds<I extends Record<string, unknown>>(
  tenantId: string,
  items: readonly I[],
): I[] {
  return items.map((item) => {
    const { campaign, campaignId, ...rest } = item;
    const isDerived =
      typeof campaign === 'string' && campaignId === campaignIdOf(tenantId, campaign);
    return isDerived ? ({ ...rest, campaign } as unknown as I) : item;
  });
}

/** Returns the campaigns that items give both an id and a name. The last name of an id counts. */
export function campaignsOf(items: readonly unknown[]): Named[] {
  return namesIn(items, 'campaignId', ({ campaign }) => campaignName.safeParse(campaign).data);
}

/** Returns the creatives that items name. The last name of an id counts. */
export function creativesOf(items: readonly unknown[]): Named[] {
  const textOf = (name: unknown) => (typeof name === 'string' && name !== '' ? name : undefined);
  return namesIn(items, 'creativeId', ({ name }) => textOf(name));
}

function namesIn(
  items: readonly unknown[],
  idMember: string,
  nameOf: (item: Record<string, unknown>) => string | undefined,
): Named[] {
  const names = new Map<string, string>();
  for (const item of items) {
    const members = (item ?? {}) as Record<string, unknown>;
    const given = members[idMember];
    const id = typeof given === 'string' ? asGuid(given) : undefined;
    const name = nameOf(members);
    if (id !== undefined && name !== undefined) names.set(id, name);
  }
  return [...names].map(([id, name]) => ({ id, name }));
}
