export interface TvAnswer {
  /** 0: no complete answer. */
  status: number;
  code: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a TV that trusts the service.
  json: any;
  etag: string | undefined;
  retryAfterSeconds: number | undefined;
}

export interface TvRequest {
  method: 'GET' | 'POST';
  headers: Record<string, string | undefined>;
  body?: string;
  signal: AbortSignal;
}

const noAnswer: TvAnswer = {
  status: 0,
  code: undefined,
  json: {},
  etag: undefined,
  retryAfterSeconds: undefined,
};

async function readAnswer(response: Response): Promise<TvAnswer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  const json = isJson && text !== '' ? JSON.parse(text) : {};
  const retryAfter = response.headers.get('retry-after');
  return {
    status: response.status,
    code: json.code,
    json,
    etag: response.headers.get('etag') ?? undefined,
    retryAfterSeconds: retryAfter === null ? undefined : Number(retryAfter),
  };
}

/** Sends one request. A lost or cut answer has the status 0. Rejects only when `signal` aborts. */
export async function requestOnce(
  url: string,
  { method, headers, body, signal }: TvRequest,
): Promise<TvAnswer> {
  const given = Object.entries(headers).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined;
  });
  try {
    const init = { method, headers: Object.fromEntries(given), signal };
    return await readAnswer(await fetch(url, body === undefined ? init : { ...init, body }));
  } catch {
    signal.throwIfAborted();
    return noAnswer;
  }
}
