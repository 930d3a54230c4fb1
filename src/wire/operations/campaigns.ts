import { get, type Operation, put, remove } from '../operation.ts';

/** Campaigns and their bookings (docs/protocol.md §5.6). */
export const campaignOperations = {
  listCampaigns: get('/v1/campaigns', 'viewer', {
    summary: 'List campaigns',
    query: 'campaignQuery',
    answer: 'campaignList',
    command: ['campaign', 'list'],
  }),
  getCampaign: get('/v1/campaigns/:name', 'viewer', {
    summary: 'Get a campaign',
    revision: true,
    record: 'campaign',
    answer: 'campaign',
    command: ['campaign', 'get'],
  }),
  putCampaign: put('/v1/campaigns/:name', 'operator', {
    summary: 'Set the booking of a campaign',
    revision: true,
    wholeTenant: true,
    body: 'campaignInput',
    answer: 'campaign',
    command: ['campaign', 'set'],
  }),
  deleteCampaign: remove('/v1/campaigns/:name', 'operator', {
    summary: 'Delete the name and the booking of a campaign',
    revision: true,
    record: 'campaign',
    command: ['campaign', 'delete'],
  }),
} satisfies Record<string, Operation>;
