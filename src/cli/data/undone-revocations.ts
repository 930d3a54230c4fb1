import type { AuditEntry } from '../../domain/records/rows.ts';

/** What was taken back after the backup was made, and holds again in the restored store. */
export interface UndoneRevocation {
  at: string;
  what: 'device key' | 'token';
  id: string;
  /** `replaced`: a newer key had taken over, which the restored store does not know. */
  reason: 'revoked' | 'replaced';
  /** What to type to take it back again. */
  command: string;
}

const deviceKey = { what: 'device key', verb: 'signage device revoke', reason: 'revoked' } as const;

const kinds: Record<string, Pick<UndoneRevocation, 'what' | 'reason'> & { verb: string }> = {
  'device.revoke': deviceKey,
  'key.activate': { ...deviceKey, reason: 'replaced' },
  // By force: its device went with it.
  'screen.delete': deviceKey,
  'token.delete': { what: 'token', verb: 'signage token delete', reason: 'revoked' },
};

/** Picks them out of an audit trail; each once, the oldest first. Those that were made after the backup are unknown to the store, and need nothing. */
export async function undoneRevocations(
  entries: AsyncIterable<AuditEntry>,
): Promise<UndoneRevocation[]> {
  const found = new Map<string, UndoneRevocation>();
  const madeLater = new Set<string>();
  for await (const { at, action, subject, details } of entries) {
    const kind = kinds[action];
    const id = action === 'screen.delete' ? details.deviceId : subject.id;
    if (typeof id !== 'string') continue;
    if (action === 'device.register' || action === 'token.create') madeLater.add(id);
    // An entry may come twice: what was revoked in the end stays so.
    if (!kind || (kind.reason === 'replaced' && found.get(id)?.reason === 'revoked')) continue;
    const { what, verb, reason } = kind;
    // Of a token that was deleted with its tenant: that tenant is there again, and is no longer the only one.
    const inTenant = typeof details.tenantId === 'string' ? ` --tenant ${details.tenantId}` : '';
    found.set(id, {
      at: new Date(at).toISOString(),
      what,
      id,
      reason,
      command: `${verb} ${id}${inTenant}`,
    });
  }
  const undone = [...found.values()].filter(({ id }) => !madeLater.has(id));
  return undone.sort((a, b) => (a.at < b.at ? -1 : 1));
}

/** What to tell the operator of one of them. */
export function undoneNote({ at, what, reason, command }: UndoneRevocation): string {
  if (reason === 'revoked')
    return `A ${what} that was revoked at ${at} works again. Once the service runs: ${command}`;
  return `A ${what} that was replaced at ${at} works again, and the new one is unknown: a TV that has kept its former key goes back to it by itself. If others may know that key: ${command}`;
}
