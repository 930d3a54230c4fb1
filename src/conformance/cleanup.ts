import { type Answer, listAt, statusAndCode, textAt } from './answer.ts';
import type { RequestContent, Send } from './send.ts';

/** A record created by a run, to be deleted at the end. */
interface CreatedRecord {
  path: string;
  headers: Record<string, string>;
}

/**
 * The collections whose records a run registers for deletion. All other records belong to a venue
 * or a screen, and are deleted with it.
 */
const collections = ['/v1/venues', '/v1/tokens', '/v1/tenants', '/v1/webhooks'];
const maxPages = 100;

/** Collects the records created by a run, and deletes them. */
export class Cleanup {
  readonly #created: CreatedRecord[] = [];
  readonly #tenantId: string | undefined;

  /** @param tenantId tenant of the records that were created without `X-Tenant-Id` */
  constructor(tenantId: string | undefined) {
    this.#tenantId = tenantId;
  }

  /** Registers the record that a request has created, if it is in one of `collections`. */
  register(
    method: string,
    path: string,
    { headers = {} }: RequestContent,
    { status, json }: Answer,
  ): void {
    const id = textAt(json, 'id');
    if (method !== 'POST' || status !== 201 || !collections.includes(path) || id === '') return;
    const tenant = headers['x-tenant-id'] ?? this.#tenantId;
    this.#created.push({
      path: `${path}/${id}`,
      headers: tenant === undefined ? {} : { 'x-tenant-id': tenant },
    });
  }

  /**
   * Deletes all records, newest first. Returns a text for each record that could not be deleted,
   * with the reason.
   */
  async remove(send: Send, key: string): Promise<string[]> {
    const left: string[] = [];
    let isUnreachable = false;
    for (let one = this.#created.pop(); one; one = this.#created.pop()) {
      const { path, headers } = one;
      const remove = (what: string) => send('DELETE', what, { key, headers });
      try {
        if (isUnreachable) throw new Error('the service is unreachable');
        if (path.startsWith('/v1/venues/'))
          await emptyVenue(
            path.slice('/v1/venues/'.length),
            (what) => send('GET', what, { key, headers }),
            remove,
          );
        const answer = await remove(path);
        if (answer.status !== 204 && answer.status !== 404)
          left.push(`${path} (${statusAndCode(answer)})`);
      } catch (error) {
        isUnreachable = true;
        left.push(`${path} (${(error as Error).message})`);
      }
    }
    return left;
  }
}

/**
 * Deletes the screens of a venue, even if they have TVs. Reads at most `maxPages` pages, in case
 * the service ignores deletions.
 */
async function emptyVenue(
  venueId: string,
  get: (path: string) => Promise<Answer>,
  remove: (path: string) => Promise<Answer>,
): Promise<void> {
  for (let page = 0; page < maxPages; page++) {
    const { json } = await get(`/v1/screens?venueId=${venueId}&limit=200`);
    const ids = listAt(json, 'items').map((screen) => textAt(screen, 'id'));
    if (ids.length === 0) return;
    for (const id of ids) await remove(`/v1/screens/${id}?force=true`);
  }
}
