import { describe, expect, it } from 'vitest';
import { campaignIdOf, withoutDerivedIds } from '../../../src/domain/playlists/campaign.ts';
import { publication } from '../../../src/domain/playlists/playlist.ts';
import { item } from '../../support/service/content.ts';
import { checkEventsOfItems } from './events-of-items.ts';

const tenantId = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';

describe('campaignIdOf', () => {
  it('is the UUIDv5 of the tenant and the folded name', () => {
    // Python: uuid.uuid5(uuid.UUID('0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e'), 'summer')
    expect(campaignIdOf(tenantId, 'summer')).toBe('93d2d18f-b2d3-59a7-82d2-eec1d351bdab');
    expect(campaignIdOf(tenantId, 'café')).toBe('7e338d29-6bbe-57a8-ab29-c93f240bc60f');
  });

  it('is the same for spellings that differ in case, spaces and normal form only', () => {
    const id = campaignIdOf(tenantId, 'Café Été');
    for (const spelling of ['CAFÉ ÉTÉ', ' café\u00a0été ', 'Cafe\u0301 E\u0301te\u0301'])
      expect(campaignIdOf(tenantId, spelling)).toBe(id);
    expect(campaignIdOf(tenantId, 'Cafe Ete')).not.toBe(id);
  });

  it('differs between tenants', () => {
    expect(campaignIdOf('0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4f', 'summer')).not.toBe(
      campaignIdOf(tenantId, 'summer'),
    );
  });
});

describe('items that the service accepts', () => {
  it('make events that the service accepts', () => {
    const { accepted, named } = checkEventsOfItems({ numRuns: 5000 });
    expect(accepted).toBeGreaterThan(1000);
    expect(named).toBeGreaterThan(100);
  });

  it('have no campaignId that is no UUID, and the message names the way out', () => {
    const { error } = publication.safeParse({ items: [item({ campaignId: 'summer' })] });
    expect(error?.issues[0]?.path).toEqual(['items', 0, 'campaignId']);
    expect(error?.issues[0]?.message).toBe(
      'must be a UUID; a name belongs into campaign, such as campaign: summer',
    );
  });
});

describe('withoutDerivedIds', () => {
  it('leaves out an id only if it follows from the name', () => {
    const other = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4f';
    const items = [
      { campaign: 'summer', campaignId: campaignIdOf(tenantId, 'Summer') },
      { campaign: 'summer', campaignId: other },
      { campaignId: other },
    ];
    expect(withoutDerivedIds(tenantId, items)).toEqual([
      { campaign: 'summer' },
      items[1],
      items[2],
    ]);
  });
});
