import { create, get, type Operation, patch, post, remove } from '../operation.ts';

/** Tenants and tokens (docs/protocol.md §5.1). */
export const platformOperations = {
  createTenant: create('/v1/tenants', 'platform', {
    summary: 'Create a tenant',
    revision: true,
    headers: ['Idempotency-Key'],
    body: 'tenantCreation',
    answer: 'tenant',
    errors: ['name_taken'],
    command: ['tenant', 'create'],
  }),
  listTenants: get('/v1/tenants', 'platform', {
    summary: 'List tenants',
    query: 'tenantQuery',
    answer: 'tenantList',
    command: ['tenant', 'list'],
  }),
  getTenant: get('/v1/tenants/:id', 'platform', {
    summary: 'Get a tenant',
    revision: true,
    record: 'tenant',
    answer: 'tenant',
    command: ['tenant', 'get'],
  }),
  updateTenant: patch('/v1/tenants/:id', 'platform', {
    summary: 'Change a tenant',
    revision: true,
    record: 'tenant',
    body: 'tenantPatch',
    answer: 'tenant',
    errors: ['name_taken'],
    command: ['tenant', 'update'],
  }),
  deleteTenant: remove('/v1/tenants/:id', 'platform', {
    summary: 'Delete a tenant that has no venues, with its tokens',
    revision: true,
    record: 'tenant',
    errors: ['tenant_not_empty', 'last_tenant'],
    command: ['tenant', 'delete'],
  }),
  createToken: create('/v1/tokens', 'admin', {
    summary: 'Create a management token; only this answer contains it',
    revision: true,
    headers: ['Idempotency-Key'],
    body: 'tokenCreation',
    answer: 'createdToken',
    errors: ['venue_not_found', 'name_taken'],
    command: ['token', 'create'],
  }),
  listTokens: get('/v1/tokens', 'admin', {
    summary: 'List management tokens',
    query: 'tokenQuery',
    answer: 'tokenList',
    command: ['token', 'list'],
  }),
  getToken: get('/v1/tokens/:id', 'admin', {
    summary: 'Get a management token',
    revision: true,
    record: 'token',
    answer: 'token',
    command: ['token', 'get'],
  }),
  deleteToken: remove('/v1/tokens/:id', 'admin', {
    summary: 'Delete a management token',
    revision: true,
    record: 'token',
    errors: ['last_token'],
    command: ['token', 'delete'],
  }),
  rotateToken: post('/v1/tokens/:id/rotate', 'admin', {
    summary: 'Give a token a new secret; the old one works until the new one is first used',
    revision: true,
    headers: ['Idempotency-Key'],
    record: 'token',
    answer: 'rotatedToken',
    errors: ['not_supported'],
    command: ['token', 'rotate'],
  }),
  getMe: get('/v1/me', 'any', {
    summary: 'Get the identity of the token, and the tenant it acts in',
    answer: 'me',
  }),
  createBackup: post('/v1/backup', 'backup', {
    summary: 'Back up the whole store, as a dump of one consistent state',
    command: ['data', 'backup'],
  }),
} satisfies Record<string, Operation>;
