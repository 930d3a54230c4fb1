import type { AuditEntry } from '../../domain/records.ts';

/** What was taken back after the backup was made, and holds again in the restored store. */
export interface UndoneRevocation {
  at: string;
  what: 'device key' | 'token';
  id: string;
  /** What to type to take it back again. */
  command: string;
}

const kinds: Record<string, Pick<UndoneRevocation, 'what'> & { verb: string }> = {
  'device.revoke': { what: 'device key', verb: 'signage device revoke' },
  // A newer key took over, which the store does not know.
  'key.activate': { what: 'device key', verb: 'signage device revoke' },
  // By force: its device went with it.
  'screen.delete': { what: 'device key', verb: 'signage device revoke' },
  'token.delete': { what: 'token', verb: 'signage token delete' },
};

/** Picks them out of an audit trail; each once, the oldest first. Those that were made after the backup are unknown to the store, and need nothing. */
export async function undoneRevocations(entries: AsyncIterable<AuditEntry>): Promise<UndoneRevocation[]> {
  const found = new Map<string, UndoneRevocation>();
  const madeLater = new Set<string>();
  for await (const { at, action, subject, details } of entries) {
    const kind = kinds[action];
    const id = action === 'screen.delete' ? details.deviceId : subject.id;
    if (typeof id !== 'string') continue;
    if (action === 'device.register' || action === 'token.create') madeLater.add(id);
    if (kind) found.set(id, { at: new Date(at).toISOString(), what: kind.what, id, command: `${kind.verb} ${id}` });
  }
  const undone = [...found.values()].filter(({ id }) => !madeLater.has(id));
  return undone.sort((a, b) => (a.at < b.at ? -1 : 1));
}
