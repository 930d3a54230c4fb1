import { create, get, type Operation, patch, post, remove } from '../operation.ts';

/** Tenants and tokens (docs/protocol.md §5.1). */
export const platformOperations = {
  createTenant: create('/v1/tenants', 'platform', {
    summary: 'Make a tenant',
    revision: true,
    headers: ['Idempotency-Key'],
    body: 'tenantCreation',
    answer: 'tenant',
    errors: ['name_taken'],
    command: ['tenant', 'create'],
  }),
  listTenants: get('/v1/tenants', 'platform', {
    summary: 'Tenants',
    query: 'tenantQuery',
    answer: 'tenantList',
    command: ['tenant', 'list'],
  }),
  getTenant: get('/v1/tenants/:id', 'platform', {
    summary: 'One tenant',
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
    summary: 'Make a management token; it is shown in this answer only',
    revision: true,
    headers: ['Idempotency-Key'],
    body: 'tokenCreation',
    answer: 'createdToken',
    errors: ['venue_not_found', 'name_taken'],
    command: ['token', 'create'],
  }),
  listTokens: get('/v1/tokens', 'admin', {
    summary: 'Management tokens',
    query: 'tokenQuery',
    answer: 'tokenList',
    command: ['token', 'list'],
  }),
  getToken: get('/v1/tokens/:id', 'admin', {
    summary: 'One management token',
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
  getMe: get('/v1/me', 'viewer', {
    summary: 'Whose token this is, and the tenant it acts in',
    answer: 'me',
  }),
  createBackup: post('/v1/backup', 'platform', {
    summary: 'One consistent state of the whole store, as a tar file',
    errors: ['not_supported'],
    command: ['data', 'backup'],
  }),
} satisfies Record<string, Operation>;
