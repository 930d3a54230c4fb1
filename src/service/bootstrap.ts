import { hashKey, makeKey } from '../domain/api-key.ts';
import { hasCode, SignageError } from '../domain/error.ts';
import type { Token } from '../domain/records.ts';
import { foldName } from '../domain/scalars.ts';
import { adminTokenForm } from '../domain/token.ts';
import type { Tx } from '../store/store.ts';
import { recordChange, type SystemKit, system } from './context.ts';

const by = { actor: system, address: null, requestId: null };
const mostTries = 3;

/** Throws `invalid_option` for a token that does not have the form of one. */
export function checkAdminToken(adminToken: string | undefined): void {
  if (adminToken === undefined || adminTokenForm.test(adminToken)) return;
  throw new SignageError('invalid_option', 'The admin token must be mak_ and at least 24 characters of A-Z, a-z and 0-9.');
}

/**
 * Makes the service usable at start (docs/protocol.md §5.2): on empty storage a tenant `default` and one platform token, which is returned
 * and nowhere else to be had; where `makesToken` is false it must be given then. A given token is the bootstrap token, at every start: a changed value
 * replaces the former.
 */
export async function bootstrap(kit: SystemKit, adminToken: string | undefined, makesToken = true): Promise<string | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await begin(kit, adminToken, makesToken);
    } catch (error) {
      // Another instance began the same store at the same moment: what it has made is found the next time.
      if (!hasCode(error, 'conflict') || tries === mostTries) throw error;
    }
  }
}

async function begin(kit: SystemKit, adminToken: string | undefined, makesToken: boolean): Promise<string | undefined> {
  const { items } = await kit.store.list('tenants', { limit: 1 });
  const empty = items.length === 0;
  if (empty && adminToken === undefined && !makesToken) {
    throw new SignageError(
      'invalid_option',
      'The store is empty, and nobody would see the platform token that a first start makes: set SIGNAGE_ADMIN_TOKEN to mak_ and at least 24 letters and digits.',
    );
  }
  const token = adminToken ?? (empty ? makeKey('mak_', kit.random) : undefined);
  await kit.store.write(async (tx) => {
    if (empty) await makeDefaultTenant(kit, tx);
    if (token !== undefined) await putPlatformToken(kit, tx, token, adminToken !== undefined);
  });
  return token;
}

async function makeDefaultTenant(kit: SystemKit, tx: Tx): Promise<void> {
  const row = { id: kit.newId(), name: 'default', createdAt: tx.now, updatedAt: tx.now };
  await tx.put('tenants', row);
  const change = { action: 'tenant.create', subject: { kind: 'tenant', id: row.id }, tenantId: row.id, details: { name: row.name } };
  await recordChange(kit, tx, by, change);
}

/** Platform tokens' names are unique: one that somebody else chose already is not taken away. */
function freeName(wanted: string, others: Token[]): string {
  const taken = new Set(others.map((row) => foldName(row.name)));
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted} ${number}`;
  return name;
}

async function putPlatformToken(kit: SystemKit, tx: Tx, token: string, given: boolean): Promise<void> {
  const hash = hashKey(token);
  const change = (verb: string, { id, name, role }: Token) => {
    return { action: `token.${verb}`, subject: { kind: 'token', id }, tenantId: null, details: { name, role } };
  };
  const there = await tx.select('tokens', 'role', ['platform']);
  const former = there.filter((row) => given && row.bootstrap && row.hash !== hash);
  for (const row of former) {
    await tx.delete('tokens', row.id);
    await recordChange(kit, tx, by, change('delete', row));
  }
  const same = there.find((row) => row.hash === hash);
  if (same?.bootstrap === given) return;
  // What the operator names as the bootstrap token does not end.
  if (same) return tx.put('tokens', { ...same, bootstrap: given, expiresAt: null });
  if (await tx.find('tokens', 'hash', hash))
    throw new SignageError('invalid_option', 'The admin token is a token of a tenant: choose another.');
  const others = there.filter((row) => !former.includes(row));
  const name = freeName(given ? 'bootstrap' : 'first start', others);
  const row: Token = { id: kit.newId(), tenantId: null, name, role: 'platform', hash, createdAt: tx.now, bootstrap: given };
  await tx.put('tokens', row);
  await recordChange(kit, tx, by, change('create', row));
}
