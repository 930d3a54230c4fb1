import { SignageError } from '../domain/error.ts';
import { mayAct, type Role, roles } from '../domain/records/role.ts';
import { at, said, textAt } from './answer.ts';
import type { Check, Need } from './check.ts';
import type { Send } from './send.ts';

/** Who runs the rows, and where. */
export interface Manager {
  /** Where the deployment is. */
  url: string;
  /** A management token of the role `operator` or better; some rows take `admin`. */
  token: string;
  /** The tenant to act in: needed with a platform token where there are several. */
  tenantId?: string | undefined;
}

/** What the token of a run may do. */
interface Rights {
  role: Role;
  /** What each request names as `X-Tenant-Id`: always with a platform token, for rows may make a second tenant. */
  tenantId: string | undefined;
}

function refuse({ url }: Manager, message: string, code: string, status?: number): never {
  throw new SignageError(code, `${url} ${message}`, status === undefined ? {} : { status });
}

/** Throws `unreachable`, what the service says of the token, `insufficient_role` and `tenant_required`. */
export async function readRights(send: Send, manager: Manager): Promise<Rights> {
  const { token, tenantId } = manager;
  const answer = await send('GET', '/v1/me', {
    key: token,
    headers: tenantId === undefined ? {} : { 'x-tenant-id': tenantId },
  });
  const { status, json } = answer;
  const role = roles.find((one) => one === textAt(json, 'role'));
  if (status !== 200 || role === undefined) {
    const usual = status === 401 ? 'credential_invalid' : 'unexpected_answer';
    return refuse(
      manager,
      `answered GET /v1/me with ${said(answer)}: it does not say what this token may do.`,
      textAt(json, 'code') || usual,
      status,
    );
  }
  if (!mayAct(role, 'operator'))
    return refuse(
      manager,
      `takes a token of the role operator or better for this, not ${role}.`,
      'insufficient_role',
    );
  if (at(json, 'venueIds'))
    return refuse(
      manager,
      'knows this token as bound to venues, and the rows make venues of their own.',
      'insufficient_role',
    );
  const acting = textAt(json, 'tenantId');
  if (acting === '')
    return refuse(manager, 'has several tenants: name the one to act in.', 'tenant_required');
  return { role, tenantId: role === 'platform' ? acting : tenantId };
}

const missing: Record<Need, string> = {
  time: 'waits until time is over: --slow',
  guessing: 'sends unknown codes until this address is locked out: --with-guessing',
  tokens: 'makes tokens, which takes one of the role admin or platform',
  tenants: 'makes a second tenant, which takes a platform token and --with-tenants',
};

/** Why a row cannot be looked at in this run; `undefined` when it can. */
export function reasonToSkip(
  { needs }: Check,
  { role }: Rights,
  allow: readonly Need[],
): string | undefined {
  if (needs === undefined) return undefined;
  const may =
    needs === 'tokens'
      ? mayAct(role, 'admin')
      : allow.includes(needs) && (needs !== 'tenants' || role === 'platform');
  return may ? undefined : missing[needs];
}
