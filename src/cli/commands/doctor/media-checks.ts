import type { CallAnswer } from '../../../client/call.ts';
import type { CommandClient } from '../../connection/client.ts';
import { mapBounded } from '../../records/for-each-record.ts';
import { hasAllBytes } from '../../records/has-all-bytes.ts';
import { type DoctorFinding, fail } from './finding.ts';

/**
 * Finds items of a playlist whose files the service should have, but has not, or not wholly.
 * `signage media verify` also finds changed ones, and reads all bytes for that.
 */
export async function checkMedia(
  client: Pick<CommandClient, 'send'>,
  { items }: Pick<CallAnswer<'readPlaylist'>, 'items'>,
): Promise<DoctorFinding[]> {
  const own = items.filter(({ creativeUrl }) => creativeUrl.startsWith('/media/'));
  const byUrl = new Map(own.map((item) => [item.creativeUrl, item]));
  const findings = await mapBounded([...byUrl.values()], async ({ name, creativeUrl }) => {
    if (await hasAllBytes(client, creativeUrl)) return [];
    const what = `The service has not all bytes of the file ${name ?? creativeUrl}.`;
    return [fail('media', what, 'signage media verify')];
  });
  return findings.flat();
}
