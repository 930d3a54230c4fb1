import { type ErrorCode, SignageError } from '../domain/error.ts';
import { mayAct, type Role, roles } from '../domain/records/role.ts';
import { at, statusAndCode, textAt } from './fixture/answer.ts';
import type { ConformanceCheck, Need } from './fixture/check.ts';
import type { Send } from './fixture/send.ts';

/** The deployment to check, and the credentials for it. */
export interface Deployment {
  /** Base URL of the deployment. */
  url: string;
  /** A management token of the role `operator` or better. Some checks require `admin`. */
  token: string;
  /** The tenant to act in. Required for a platform token if there are several tenants. */
  tenantId?: string | undefined;
}

/** Permissions of the token that a run uses. */
interface Rights {
  role: Role;
  /**
   * The `X-Tenant-Id` of each request. It is always set for a platform token, because checks may
   * create a second tenant.
   */
  tenantId: string | undefined;
}

function refuse({ url }: Deployment, message: string, code: ErrorCode, status?: number): never {
  throw new SignageError(code, `${url} ${message}`, status === undefined ? {} : { status });
}

/**
 * Reads the permissions of the token. Throws `unreachable`, `insufficient_role`, `tenant_required`,
 * `unexpected_answer`, or the error with which the service rejects the token.
 */
export async function readRights(send: Send, deployment: Deployment): Promise<Rights> {
  const { token, tenantId } = deployment;
  const answer = await send('GET', '/v1/me', {
    key: token,
    headers: tenantId === undefined ? {} : { 'x-tenant-id': tenantId },
  });
  const { status, json } = answer;
  const role = roles.find((one) => one === textAt(json, 'role'));
  if (status !== 200 || role === undefined) {
    const defaultCode = status === 401 ? 'credential_invalid' : 'unexpected_answer';
    return refuse(
      deployment,
      `answered GET /v1/me with ${statusAndCode(answer)}, which does not state the role of this token.`,
      (textAt(json, 'code') as ErrorCode) || defaultCode,
      status,
    );
  }
  if (!mayAct(role, 'operator'))
    return refuse(
      deployment,
      `requires a token of the role operator or better, not ${role}.`,
      'insufficient_role',
    );
  if (at(json, 'venueIds'))
    return refuse(
      deployment,
      'says that this token is bound to venues, but the checks create their own venues.',
      'insufficient_role',
    );
  const acting = textAt(json, 'tenantId');
  if (acting === '')
    return refuse(
      deployment,
      'has several tenants. Choose the tenant to act in.',
      'tenant_required',
    );
  return { role, tenantId: role === 'platform' ? acting : tenantId };
}

const missing: Record<Need, string> = {
  time: 'waits until something expires: requires --slow',
  guessing: 'sends unknown codes until this address is locked out: requires --with-guessing',
  tokens: 'creates tokens or webhooks: requires a token of the role admin or platform',
  platform: 'creates a token of the platform: requires a platform token',
  tenants: 'creates a second tenant: requires a platform token and --with-tenants',
};

/** Returns the reason why this run skips a check, or `undefined` if the check runs. */
export function reasonToSkip(
  { needs }: ConformanceCheck,
  { role }: Rights,
  allow: readonly Need[],
): string | undefined {
  if (needs === undefined) return undefined;
  return mayCheck(needs, role, allow) ? undefined : missing[needs];
}

function mayCheck(needs: Need, role: Role, allow: readonly Need[]): boolean {
  if (needs === 'tokens') return mayAct(role, 'admin');
  if (needs === 'platform') return role === 'platform';
  return allow.includes(needs) && (needs !== 'tenants' || role === 'platform');
}
