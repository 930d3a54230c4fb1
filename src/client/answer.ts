import { SignageError } from '../domain/error.ts';
import type { Operation } from '../wire/operations.ts';
import type { SchemaName } from '../wire/schemas.ts';
import { asObject, type Reply } from './problem.ts';

type Kind = 'string' | 'number' | 'object' | 'array';

/** The members on which programs build; an answer without them is no answer. (The schemas themselves would cost every command the loading of zod.) */
const members: Partial<Record<SchemaName, Record<string, Kind>>> = {
  registered: { deviceId: 'string', screenId: 'string', apiKey: 'string', tenantId: 'string', config: 'object' },
  activePlaylist: { id: 'string', version: 'number', items: 'array' },
  playlist: { id: 'string', version: 'number', items: 'array' },
  deviceConfig: { syncIntervalMinutes: 'number', heartbeatIntervalMinutes: 'number', cachePolicy: 'object' },
  eventsAccepted: { received: 'number' },
  createdCode: { code: 'string', screenId: 'string', status: 'string' },
  codeStatus: { code: 'string', screenId: 'string', status: 'string' },
  createdToken: { id: 'string', token: 'string' },
  revoked: { device: 'object', screen: 'object' },
  impressionReport: { items: 'array' },
};
const records: readonly SchemaName[] = ['tenant', 'token', 'venue', 'screen', 'device'];
const pages: readonly SchemaName[] = [
  'tenantList',
  'tokenList',
  'venueList',
  'screenList',
  'deviceList',
  'eventList',
  'auditList',
  'playlistVersions',
];

function wantedMembers(schema: SchemaName): Record<string, Kind> {
  if (records.includes(schema)) return { id: 'string' };
  return pages.includes(schema) ? { items: 'array' } : (members[schema] ?? {});
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
}

/** The body of a successful answer, if it is what the operation promises; `undefined` where it promises none. Throws `unexpected_answer`. */
export function readAnswer(operation: Operation, reply: Reply, service: string): unknown {
  if (operation.answer === undefined || reply.status === 304) return undefined;
  const answer = asObject(reply.text);
  const wanted = Object.entries(wantedMembers(operation.answer));
  const missing = wanted.find(([name, kind]) => kindOf(answer?.[name]) !== kind)?.[0];
  if (answer && missing === undefined) return answer;
  const what = answer ? `without a usable "${missing}"` : 'no JSON object';
  throw new SignageError('unexpected_answer', `${service} answered ${reply.status} with ${what}. Is it a signage service?`);
}
