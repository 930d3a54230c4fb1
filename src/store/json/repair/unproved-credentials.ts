import type { DamagedRows } from './damaged-rows.ts';
import type { FolderFindings } from './finding.ts';

/**
 * Revokes the credentials whose newest version may be among the lost changes, because a revocation
 * may be among them, too. Reports each.
 */
export function revokeUnproved(rows: DamagedRows, now: number, findings: FolderFindings): void {
  const because = 'because a revocation may be among the lost changes';
  for (const key of rows.unproved('deviceKeys')) {
    if (key.state === 'revoked') continue;
    rows.replace('deviceKeys', { ...key, state: 'revoked', revokedAt: now });
    const what = `the key of device ${key.deviceId} on screen ${key.screenId} was revoked, ${because}: pair the screen again, with --replace`;
    findings.revoked('deviceKeys', what);
  }
  for (const token of rows.unproved('tokens')) {
    if (token.expiresAt !== null && token.expiresAt <= now) continue;
    // Without the mark, a start with the same SIGNAGE_ADMIN_TOKEN makes the token valid again.
    rows.replace('tokens', { ...token, expiresAt: now, retiring: null, bootstrap: false });
    const what = `the token ${token.id} (${token.name}) has expired now, ${because}: create another one`;
    findings.revoked('tokens', what);
  }
  for (const code of rows.unproved('codes')) {
    if (code.state !== 'pending' || code.expiresAt <= now) continue;
    rows.replace('codes', { ...code, state: 'cancelled', cancelledAt: now });
    const what = `a pairing code of screen ${code.screenId} was cancelled, ${because}: create another one`;
    findings.revoked('codes', what);
  }
  for (const ticket of rows.unproved('tickets')) {
    if (ticket.expiresAt <= now) continue;
    rows.replace('tickets', { ...ticket, expiresAt: now });
    const what = `the ticket ${ticket.id} has expired now, ${because}: create another one`;
    findings.revoked('tickets', what);
  }
}
