import type { MediaStore } from '../media/media-store.ts';
import { type Principal, recordChange, type ServiceDependencies } from './context.ts';

/** Backups of the whole store (docs/protocol.md §5.9). */
export function makeBackups(deps: ServiceDependencies, files: MediaStore | undefined) {
  /**
   * Returns a dump of one consistent state. It contains every change acknowledged before the call.
   * `withMedia`: also the bytes of media.
   */
  async function create(
    principal: Principal,
    withMedia: boolean,
  ): Promise<ReadableStream<Uint8Array>> {
    const backup = await deps.store.backup(withMedia ? files : undefined);
    try {
      await deps.write(principal, async (tx) => {
        await recordChange(deps, tx, principal, {
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
