import type { AuditEntry } from '../../../domain/records/audit.ts';

/** A revocation that happened after the backup. The restored store does not contain it. */
export interface UndoneRevocation {
  at: string;
  what: 'device key' | 'token' | 'ticket';
  id: string;
  /** `replaced`: the key was replaced by a newer one, which the restored store does not contain. */
  reason: 'revoked' | 'replaced';
  /** The command that revokes it again. */
  command: string;
}

const deviceKey = { what: 'device key', verb: 'signage device revoke', reason: 'revoked' } as const;

const kinds: Record<string, Pick<UndoneRevocation, 'what' | 'reason'> & { verb: string }> = {
  'device.revoke': deviceKey,
  'key.activate': { ...deviceKey, reason: 'replaced' },
  // The forced deletion of a screen also revokes its device.
  'screen.delete': deviceKey,
  'token.delete': { what: 'token', verb: 'signage token delete', reason: 'revoked' },
  'ticket.revoke': { what: 'ticket', verb: 'signage ticket revoke', reason: 'revoked' },
};

/** Actions that make what a later entry may revoke. */
const making: readonly string[] = [
  'device.register',
  'token.create',
  'token.approve',
  'ticket.create',
];

/**
 * Finds the undone revocations in the audit entries after a backup, and returns them oldest first.
 * Skips what was created after the backup, because the restored store does not contain them.
 */
export async function undoneRevocations(
  entries: AsyncIterable<AuditEntry>,
): Promise<UndoneRevocation[]> {
  const found = new Map<string, UndoneRevocation>();
  const madeLater = new Set<string>();
  for await (const { at, action, subject, details } of entries) {
    const kind = kinds[action];
    const id = action === 'screen.delete' ? details.deviceId : subject.id;
    if (typeof id !== 'string') continue;
    if (making.includes(action)) madeLater.add(id);
    // Entries may repeat. A revocation overrides a replacement of the same key.
    if (!kind || (kind.reason === 'replaced' && found.get(id)?.reason === 'revoked')) continue;
    const { what, verb, reason } = kind;
    // The entry of a token names its tenant if they were deleted together. The restored store
    // contains that tenant again.
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

/** Describes an undone revocation for the operator. */
export function undoneNote({ at, what, reason, command }: UndoneRevocation): string {
  if (reason === 'revoked')
    return `A ${what} that was revoked at ${at} works again. Once the service runs: ${command}`;
  return `A ${what} that was replaced at ${at} works again, and the service does not know the new one. A TV that has kept its previous key returns to it by itself. If others may know that key: ${command}`;
}
