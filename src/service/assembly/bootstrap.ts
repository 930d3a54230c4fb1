import { hashKey, makeKey } from '../../domain/api-key.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import { foldName } from '../../domain/fold-name.ts';
import type { Token } from '../../domain/records/rows.ts';
import { adminTokenForm } from '../../domain/records/token.ts';
import type { Tx } from '../../store/store.ts';
import { tokenChange } from '../auth/tokens.ts';
import { bySystem, recordChange, type SystemDependencies } from '../context.ts';
import { tenantChange } from '../places/tenants.ts';

const maxAttempts = 3;

/** Throws `invalid_option` for a malformed admin token. */
export function checkAdminToken(adminToken: string | undefined): void {
  if (adminToken === undefined || adminTokenForm.test(adminToken)) return;
  throw new SignageError(
    'invalid_option',
    'The admin token must be mak_ and at least 24 characters of A-Z, a-z and 0-9.',
  );
}

/** The options of `serve` about the platform token. */
export interface BootstrapOptions {
  adminToken?: string | undefined;
  /** Default: true. */
  makesToken?: boolean | undefined;
  /** Default: false. */
  newAdminToken?: boolean | undefined;
}

/** Result of `bootstrap`. */
export interface BootstrapResult {
  /** The given token, or the token that this start created. `undefined` if there is neither. */
  token: string | undefined;
  /**
   * Deletes the token that this start created, so that the next start creates another. Absent if
   * this start created no token.
   */
  takeBack?: () => Promise<void>;
}

/**
 * Prepares the store for use at start (docs/protocol.md §5.2). Creates the tenant `default` in an
 * empty store. Without `adminToken`, also creates a platform token if none exists, or in any case
 * with `newAdminToken`. The new token is returned once and can never be read again.
 *
 * If `makesToken` is false, the first start requires `adminToken`. At every start, a given token
 * becomes the bootstrap token: a changed value replaces the previous one. All changes are durable
 * when the promise resolves.
 */
export async function bootstrap(
  deps: SystemDependencies,
  options: BootstrapOptions,
): Promise<BootstrapResult> {
  if (options.newAdminToken && options.adminToken !== undefined) {
    throw new SignageError(
      'invalid_option',
      'The platform token is given (SIGNAGE_ADMIN_TOKEN), and a new one is asked for (--new-admin-token): leave out one of the two.',
    );
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await bootstrapOnce(deps, options);
    } catch (error) {
      // Another instance bootstrapped the same store concurrently. The next attempt reads the
      // records that it created.
      if (!hasCode(error, 'conflict') || attempt === maxAttempts) throw error;
    }
  }
}

async function bootstrapOnce(
  deps: SystemDependencies,
  { adminToken, makesToken = true, newAdminToken = false }: BootstrapOptions,
): Promise<BootstrapResult> {
  const { items } = await deps.store.list('tenants', { limit: 1 });
  const isEmpty = items.length === 0;
  if ((isEmpty || newAdminToken) && adminToken === undefined && !makesToken) {
    const reason = isEmpty ? 'The store is empty, and a' : 'A';
    throw new SignageError(
      'invalid_option',
      `${reason} platform token created now would not be displayed: set SIGNAGE_ADMIN_TOKEN to mak_ and at least 24 letters and digits.`,
    );
  }
  const newToken =
    adminToken === undefined && makesToken ? makeKey('mak_', deps.random) : undefined;
  const newTokenId = await deps.store.write(async (tx) => {
    if (isEmpty) await createDefaultTenant(deps, tx);
    if (adminToken !== undefined) await applyGivenToken(deps, tx, adminToken);
    if (newToken === undefined) return undefined;
    const others = await platformTokens(tx);
    if (others.length > 0 && !newAdminToken) return undefined;
    const wanted = newAdminToken ? 'new admin token' : 'first start';
    const name = unusedName(wanted, [...others, ...(await backupTokens(tx))]);
    return createPlatformToken(deps, tx, { name, hash: hashKey(newToken), bootstrap: false });
  });
  if (newTokenId === undefined) return { token: adminToken };
  return { token: newToken, takeBack: () => deleteToken(deps, newTokenId) };
}

async function createDefaultTenant(deps: SystemDependencies, tx: Tx): Promise<void> {
  const row = { id: deps.newId(), name: 'default', createdAt: tx.stamp, updatedAt: tx.stamp };
  await tx.put('tenants', row);
  await recordChange(deps, tx, bySystem, tenantChange('create', row));
}

/**
 * Returns `wanted`, followed by a number if the name is taken: names of platform tokens are unique.
 */
function unusedName(wanted: string, otherTokens: Token[]): string {
  const usedNames = new Set(otherTokens.map((row) => foldName(row.name)));
  let name = wanted;
  for (let number = 2; usedNames.has(name); number++) name = `${wanted} ${number}`;
  return name;
}

const platformTokens = (tx: Tx) => tx.select('tokens', 'role', ['platform']);
/** Tokens that share the scope of names with platform tokens. */
const backupTokens = (tx: Tx) => tx.select('tokens', 'role', ['backup']);

async function createPlatformToken(
  deps: SystemDependencies,
  tx: Tx,
  row: Pick<Token, 'name' | 'hash' | 'bootstrap'>,
): Promise<string> {
  const token: Token = {
    ...row,
    id: deps.newId(),
    tenantId: null,
    role: 'platform',
    createdAt: tx.stamp,
    expiresAt: null,
    venueIds: null,
    firstUsedAt: tx.stamp,
    retiring: null,
  };
  await tx.put('tokens', token);
  await recordChange(deps, tx, bySystem, tokenChange('create', token));
  return token.id;
}

async function deleteToken(deps: SystemDependencies, id: string): Promise<void> {
  await deps.store.write(async (tx) => {
    const row = await tx.get('tokens', id);
    if (row === undefined) return;
    await tx.delete('tokens', id);
    await recordChange(deps, tx, bySystem, tokenChange('delete', row));
  });
}

async function applyGivenToken(deps: SystemDependencies, tx: Tx, token: string): Promise<void> {
  const hash = hashKey(token);
  const sameHash = await tx.find('tokens', 'hash', hash);
  if (sameHash && sameHash.role !== 'platform') {
    throw new SignageError(
      'invalid_option',
      `The admin token is a token with the role ${sameHash.role} already: choose another.`,
    );
  }
  const otherTokens = (await platformTokens(tx)).filter((row) => row.hash !== hash);
  for (const row of otherTokens.filter(({ bootstrap }) => bootstrap)) {
    await tx.delete('tokens', row.id);
    await recordChange(deps, tx, bySystem, tokenChange('delete', row));
  }
  if (sameHash?.bootstrap) return;
  if (sameHash) {
    // The operator's bootstrap token does not expire.
    await tx.put('tokens', { ...sameHash, bootstrap: true, expiresAt: null });
    return;
  }
  const name = unusedName('bootstrap', [
    ...otherTokens.filter(({ bootstrap }) => !bootstrap),
    ...(await backupTokens(tx)),
  ]);
  await createPlatformToken(deps, tx, { name, hash, bootstrap: true });
}
