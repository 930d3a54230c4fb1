import type { IdSource } from '../../domain/id.ts';
import { offeredCode } from '../../domain/records/claim.ts';
import type { Claim, PairingCode, Screen } from '../../domain/records/rows.ts';
import type { Store, Tx } from '../../store/store.ts';
import type { Codes } from './codes.ts';

/**
 * Makes a pairing code for a screen, and puts the claim with the offer of it. Throws
 * `screen_already_bound`, or `conflict` if the code exists.
 */
export async function putOffer(
  { store, newId }: { store: Pick<Store, 'secret'>; newId: IdSource },
  codes: Codes,
  tx: Tx,
  claim: Claim,
  screen: Screen,
): Promise<{ row: PairingCode; code: string }> {
  const offerId = newId();
  const code = offeredCode(store.secret, claim.id, offerId);
  const row = await codes.add(tx, screen, { ticketId: claim.ticketId }, code);
  const { tenantId, screenId } = row;
  await tx.put('claims', {
    ...claim,
    state: 'offered',
    // The TV can ask again as long as the code is valid.
    expiresAt: Math.max(claim.expiresAt, row.expiresAt),
    offer: { id: offerId, codeId: row.id, screenId, tenantId },
  });
  return { row, code };
}
