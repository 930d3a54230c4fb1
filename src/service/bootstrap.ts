import { hashKey, makeKey } from '../domain/api-key.ts';
import { hasCode, SignageError } from '../domain/error.ts';
import { foldName } from '../domain/fields.ts';
import type { Token } from '../domain/records/rows.ts';
import { adminTokenForm } from '../domain/records/token.ts';
import type { Tx } from '../store/store.ts';
import { recordChange, type SystemDependencies, system } from './context.ts';

const by = { actor: system, address: null, requestId: null };
const mostTries = 3;

/** Throws `invalid_option` for a token that does not have the form of one. */
export function checkAdminToken(adminToken: string | undefined): void {
  if (adminToken === undefined || adminTokenForm.test(adminToken)) return;
  throw new SignageError(
    'invalid_option',
    'The admin token must be mak_ and at least 24 characters of A-Z, a-z and 0-9.',
  );
}

/** The platform token of a start. */
export interface Bootstrapped {
  /** The given token, or the one that this start made. */
  token: string | undefined;
  /** Set when this start made the token: deletes it again, so that the next start makes another. */
  takeBack?: () => Promise<void>;
}

/**
 * Makes the service usable at start (docs/protocol.md §5.2): a tenant `default` on empty storage, and a platform token where there is none.
 * That token is returned, and nobody can read it later. Where `makesToken` is false, a first start must be given one. A given token is the
 * bootstrap token at every start: a changed value replaces the former. All of it is durable when the promise resolves.
 */
export async function bootstrap(
  deps: SystemDependencies,
  adminToken: string | undefined,
  makesToken = true,
): Promise<Bootstrapped> {
  for (let tries = 1; ; tries++) {
    try {
      return await begin(deps, adminToken, makesToken);
    } catch (error) {
      // Another instance began the same store at the same moment. The next try finds its records.
      if (!hasCode(error, 'conflict') || tries === mostTries) throw error;
    }
  }
}

async function begin(
  deps: SystemDependencies,
  adminToken: string | undefined,
  makesToken: boolean,
): Promise<Bootstrapped> {
  const { items } = await deps.store.list('tenants', { limit: 1 });
  const empty = items.length === 0;
  if (empty && adminToken === undefined && !makesToken) {
    throw new SignageError(
      'invalid_option',
      'The store is empty, and nobody would see the platform token that a first start makes: set SIGNAGE_ADMIN_TOKEN to mak_ and at least 24 letters and digits.',
    );
  }
  const made = adminToken === undefined && makesToken ? makeKey('mak_', deps.random) : undefined;
  const madeId = await deps.store.write(async (tx) => {
    if (empty) await makeDefaultTenant(deps, tx);
    if (adminToken !== undefined) await putGivenToken(deps, tx, adminToken);
    return made === undefined ? undefined : putFirstToken(deps, tx, made);
  });
  if (madeId === undefined) return { token: adminToken };
  return { token: made, takeBack: () => takeBack(deps, madeId) };
}

async function makeDefaultTenant(deps: SystemDependencies, tx: Tx): Promise<void> {
  const row = { id: deps.newId(), name: 'default', createdAt: tx.now, updatedAt: tx.now };
  await tx.put('tenants', row);
  const change = {
    action: 'tenant.create',
    subject: { kind: 'tenant', id: row.id },
    tenantId: row.id,
    details: { name: row.name },
  };
  await recordChange(deps, tx, by, change);
}

/** Platform tokens' names are unique: one that somebody else chose already is not taken away. */
function freeName(wanted: string, others: Token[]): string {
  const taken = new Set(others.map((row) => foldName(row.name)));
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted} ${number}`;
  return name;
}

const platformTokens = (tx: Tx) => tx.select('tokens', 'role', ['platform']);

async function recordToken(
  deps: SystemDependencies,
  tx: Tx,
  verb: string,
  { id, name, role }: Token,
): Promise<void> {
  await recordChange(deps, tx, by, {
    action: `token.${verb}`,
    subject: { kind: 'token', id },
    tenantId: null,
    details: { name, role },
  });
}

async function putToken(
  deps: SystemDependencies,
  tx: Tx,
  row: Omit<Token, 'id' | 'tenantId' | 'role' | 'createdAt'>,
): Promise<string> {
  const token: Token = {
    ...row,
    id: deps.newId(),
    tenantId: null,
    role: 'platform',
    createdAt: tx.now,
  };
  await tx.put('tokens', token);
  await recordToken(deps, tx, 'create', token);
  return token.id;
}

/** Returns the id of the new token; nothing where there is a platform token already. */
async function putFirstToken(
  deps: SystemDependencies,
  tx: Tx,
  token: string,
): Promise<string | undefined> {
  const there = await platformTokens(tx);
  return there.length > 0
    ? undefined
    : putToken(deps, tx, { name: 'first start', hash: hashKey(token), bootstrap: false });
}

async function takeBack(deps: SystemDependencies, id: string): Promise<void> {
  await deps.store.write(async (tx) => {
    const row = await tx.get('tokens', id);
    if (row === undefined) return;
    await tx.delete('tokens', id);
    await recordToken(deps, tx, 'delete', row);
  });
}

async function putGivenToken(deps: SystemDependencies, tx: Tx, token: string): Promise<void> {
  const hash = hashKey(token);
  const same = await tx.find('tokens', 'hash', hash);
  if (same && same.role !== 'platform') {
    throw new SignageError(
      'invalid_option',
      'The admin token is a token of a tenant: choose another.',
    );
  }
  const others = (await platformTokens(tx)).filter((row) => row.hash !== hash);
  for (const row of others.filter(({ bootstrap }) => bootstrap)) {
    await tx.delete('tokens', row.id);
    await recordToken(deps, tx, 'delete', row);
  }
  if (same?.bootstrap) return;
  if (same) {
    // The operator's bootstrap token does not expire.
    await tx.put('tokens', { ...same, bootstrap: true, expiresAt: null });
    return;
  }
  const name = freeName(
    'bootstrap',
    others.filter(({ bootstrap }) => !bootstrap),
  );
  await putToken(deps, tx, { name, hash, bootstrap: true });
}
