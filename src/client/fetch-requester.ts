import type { MakeRequester } from './requester.ts';

/** Yields the chunks of a body. Older browsers cannot iterate over a stream. */
async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  if (!body) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Cancels the download if the caller stops reading early.
    reader.cancel().catch(() => {});
  }
}

/** Sends requests with `fetch`, for browsers. The browser decides which certificates it trusts. */
export const makeFetchRequester: MakeRequester = async () => async (url, parts) => {
  // A redirect could send the key to another host.
  const answer = await fetch(url, { ...parts, credentials: 'omit', redirect: 'error' });
  const headers: Record<string, string> = {};
  answer.headers.forEach((value, name) => {
    headers[name] = value;
  });
  return { statusCode: answer.status, headers, body: chunksOf(answer) };
};
