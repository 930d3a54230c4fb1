import { type Caller, type Kit, recordChange } from './context.ts';

/** Copies of all that the service keeps (docs/protocol.md §5.9). */
export function makeBackups(kit: Kit) {
  /** A tar of one consistent state, which has everything acknowledged before the call. Throws `not_supported` where the store has tools of its own. */
  async function create(caller: Caller): Promise<ReadableStream<Uint8Array>> {
    const backup = await kit.store.backup();
    try {
      await kit.write(caller, async (tx) => {
        await recordChange(kit, tx, caller, {
          action: 'backup.create',
          subject: { kind: 'backup', id: null },
          tenantId: null,
        });
      });
    } catch (error) {
      await backup.cancel();
      throw error;
    }
    return backup;
  }

  return { create };
}
