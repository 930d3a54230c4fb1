import type { Answer, Sent, TestService } from '../../support/service/service.ts';

/** Where each released version has left its `data/`, `backup.dump` and `exchanges.json`. */
export const releasedData = new URL('../../fixtures/released/', import.meta.url);

/** Options of the service that made the data, and of those that open them. */
export const publicUrl = 'https://signage.example.com';
export const webhookAllow = ['127.0.0.1'];

export interface Asked extends Pick<Sent, 'key' | 'headers' | 'body'> {
  method: string;
  path: string;
}

/** A request, and the part of its answer that later versions keep. */
export interface Exchange {
  asked: Asked;
  answered: object;
}

export function send(service: TestService, { method, path, ...sent }: Asked): Promise<Answer> {
  return service.send(method, path, sent);
}

/** Returns what an answer tells of the stored data. Texts for people and ETags may change. */
export async function ask(service: TestService, asked: Asked): Promise<object> {
  const { status, headers, text, body } = await send(service, asked);
  if (status >= 400) return { status, code: body.code };
  const kept = ['x-playlist-version', 'x-source', 'x-config-source'].flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return { status, ...Object.fromEntries(kept), body: body ?? text };
}
