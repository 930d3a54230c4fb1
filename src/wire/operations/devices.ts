import { create, get, type Operation, post, remove } from '../operation.ts';

const codes = '/v1/devices/provisioning-codes';

/** Pairing codes and devices (docs/protocol.md §4, §5.3). */
export const devicesOperations = {
  createCode: create(codes, 'installer', {
    summary: 'Create a pairing code for a screen',
    headers: ['Idempotency-Key'],
    body: 'codeCreation',
    answer: 'createdCode',
    errors: ['screen_not_found', 'screen_already_bound'],
    command: ['code', 'create'],
  }),
  getCodeStatus: get(`${codes}/:code/status`, 'viewer', {
    summary: 'Get the status of a pairing code',
    record: 'pairing_code',
    query: 'codeStatusQuery',
    answer: 'codeStatus',
    command: ['code', 'status'],
  }),
  cancelCode: remove(`${codes}/:code`, 'installer', {
    summary: 'Cancel a pending pairing code',
    record: 'pairing_code',
    errors: ['pairing_code_not_pending'],
    command: ['code', 'cancel'],
  }),
  listClaims: get('/v1/devices/claims', 'installer', {
    summary: 'List the TVs that wait with a ticket',
    query: 'claimQuery',
    answer: 'claimList',
    command: ['claim', 'list'],
  }),
  getClaim: get('/v1/devices/claims/:claim', 'installer', {
    summary: 'Get the TV that shows a claim',
    record: 'claim',
    answer: 'claim',
    errors: ['too_many_attempts'],
    command: ['code', 'claim'],
  }),
  offerClaim: create('/v1/devices/claims/:claim/offer', 'installer', {
    summary: 'Create a pairing code for a screen, and send it to the TV that shows a claim',
    record: 'claim',
    headers: ['Idempotency-Key'],
    body: 'offerCreation',
    answer: 'createdCode',
    errors: ['screen_not_found', 'claim_offered', 'screen_already_bound', 'too_many_attempts'],
    command: ['code', 'offer'],
  }),
  createTicket: create('/v1/tickets', 'installer', {
    summary: 'Create a ticket with which TVs enrol themselves',
    headers: ['Idempotency-Key'],
    body: 'ticketCreation',
    answer: 'createdTicket',
    errors: ['screen_not_found', 'venue_not_found', 'screen_already_bound', 'too_many_tickets'],
    command: ['ticket', 'create'],
  }),
  listTickets: get('/v1/tickets', 'installer', {
    summary: 'List tickets',
    query: 'ticketQuery',
    answer: 'ticketList',
    command: ['ticket', 'list'],
  }),
  getTicket: get('/v1/tickets/:id', 'installer', {
    summary: 'Get a ticket',
    record: 'ticket',
    answer: 'ticket',
  }),
  revokeTicket: remove('/v1/tickets/:id', 'installer', {
    summary: 'Revoke a ticket',
    record: 'ticket',
    command: ['ticket', 'revoke'],
  }),
  revokeDevice: post('/v1/devices/:id/revoke', 'installer', {
    summary: 'Revoke a device and free its screen',
    record: 'device',
    body: 'revocation',
    bodyOptional: true,
    answer: 'revoked',
    command: ['device', 'revoke'],
  }),
  identifyTvs: post('/v1/identify', 'installer', {
    summary: 'Make TVs draw their venue, screen and device id for a while',
    body: 'identifyInput',
    answer: 'identified',
  }),
  reloadTvs: post('/v1/reload', 'installer', {
    summary: 'Make players load themselves anew',
    body: 'reloadInput',
    answer: 'reloadAnnounced',
  }),
  listDevices: get('/v1/devices', 'viewer', {
    summary: 'List devices',
    query: 'deviceQuery',
    answer: 'deviceList',
    command: ['device', 'list'],
  }),
  getDevice: get('/v1/devices/:id', 'viewer', {
    summary: 'Get a device',
    record: 'device',
    answer: 'device',
    command: ['device', 'get'],
  }),
} satisfies Record<string, Operation>;
