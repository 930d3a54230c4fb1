import { type Answer, listAt, said, textAt } from './answer.ts';
import type { Send, Sent } from './send.ts';

/** What a run has made and must take away again. */
interface Trace {
  path: string;
  headers: Record<string, string>;
}

/** Venues take their screens with them, screens all else: tokens and tenants stand beside them. */
const kept = ['/v1/venues', '/v1/tokens', '/v1/tenants'];
const mostPages = 100;

/** Notes what was made, whatever it was made for, and removes it. */
export class Cleanup {
  readonly #made: Trace[] = [];

  /** Looks at an answer for something new. */
  note(method: string, path: string, { headers = {} }: Sent, { status, json }: Answer): void {
    const id = textAt(json, 'id');
    if (method !== 'POST' || status !== 201 || !kept.includes(path) || id === '') return;
    const tenant = headers['x-tenant-id'];
    this.#made.push({
      path: `${path}/${id}`,
      headers: tenant === undefined ? {} : { 'x-tenant-id': tenant },
    });
  }

  /** Removes all of it, the newest first. Answers what could not be removed, and why. */
  async remove(send: Send, key: string): Promise<string[]> {
    const left: string[] = [];
    let isGone = false;
    for (let one = this.#made.pop(); one; one = this.#made.pop()) {
      const { path, headers } = one;
      const remove = (what: string) => send('DELETE', what, { key, headers });
      try {
        if (isGone) throw new Error('the service is gone');
        if (path.startsWith('/v1/venues/'))
          await emptyVenue(
            path.slice('/v1/venues/'.length),
            (what) => send('GET', what, { key, headers }),
            remove,
          );
        const answer = await remove(path);
        if (answer.status !== 204 && answer.status !== 404) left.push(`${path} (${said(answer)})`);
      } catch (error) {
        isGone = true;
        left.push(`${path} (${(error as Error).message})`);
      }
    }
    return left;
  }
}

/** Deletes the screens of a venue, with their TVs. Ends also where nothing goes. */
async function emptyVenue(
  venueId: string,
  get: (path: string) => Promise<Answer>,
  remove: (path: string) => Promise<Answer>,
): Promise<void> {
  for (let page = 0; page < mostPages; page++) {
    const { json } = await get(`/v1/screens?venueId=${venueId}&limit=200`);
    const ids = listAt(json, 'items').map((screen) => textAt(screen, 'id'));
    if (ids.length === 0) return;
    for (const id of ids) await remove(`/v1/screens/${id}?force=true`);
  }
}
