import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Client } from 'undici';
import type { DescribedAnswers } from '../../support/service/described-answers.ts';
import type { Answer } from '../../support/service/service.ts';
import { checkAnswer } from './checker.ts';
import type { FuzzRequest } from './requests.ts';

/** Result of one request. */
export interface Probed {
  /** `undefined` without an answer. */
  status?: number;
  /** Operation, and code or status. */
  kind: string;
  wrong: string[];
}

const patienceMs = 20_000;
const decoders: Record<string, (bytes: Buffer) => Buffer> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
};

function shown({ method, path, headers, body }: FuzzRequest): string {
  const text = body === undefined ? '' : JSON.stringify(body.toString().slice(0, 300));
  return `${method} ${path.slice(0, 300)} ${JSON.stringify(headers.filter(([name]) => name !== 'x-forwarded-for')).slice(0, 300)} ${text}`;
}

async function exchange(
  client: Client,
  { method, path, headers, body }: FuzzRequest,
): Promise<Answer> {
  const signal = AbortSignal.timeout(patienceMs);
  const answer = await client.request({
    method: method as 'GET',
    path,
    headers: headers.flat(),
    body: body ?? null,
    signal,
  });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  const coding = answer.headers['content-encoding'];
  // HEAD has the headers of GET, but no body.
  const decode = bytes.length === 0 ? undefined : decoders[String(coding)];
  const text = (decode ? decode(bytes) : bytes).toString();
  const given = Object.entries(answer.headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  const isJson = /[/+]json/.test(String(answer.headers['content-type'])) && text !== '';
  return {
    status: answer.statusCode,
    headers: new Headers(given),
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

/** Errors of undici for requests that it refuses to send. */
const unsendable = (error: unknown) => (error as { code?: string }).code === 'UND_ERR_INVALID_ARG';
/**
 * A body that is too large is not read to its end. The service answers and closes, and the answer
 * may be lost.
 */
const hungUp = (error: unknown) =>
  /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test((error as { code?: string }).code ?? '');
const isLarge = ({ body }: FuzzRequest) => (body?.length ?? 0) > 64 * 1024;

/** Sends a request and checks its answer. Returns `undefined` for one that cannot be sent. */
export async function probe(
  client: Client,
  request: FuzzRequest,
  documented: DescribedAnswers,
): Promise<Probed | undefined> {
  const operation = request.described?.operation;
  try {
    const answer = await exchange(client, request);
    const complaints = checkAnswer(request, answer, documented);
    const wrong =
      complaints.length === 0
        ? []
        : [
            `${shown(request)} → ${answer.status} ${answer.text.slice(0, 200)}: ${complaints.join('; ')}`,
          ];
    return {
      status: answer.status,
      kind: `${operation} ${answer.body?.code ?? answer.status}`,
      wrong,
    };
  } catch (error) {
    if (unsendable(error)) return undefined;
    const isFine = hungUp(error) && isLarge(request);
    return {
      kind: `${operation} hung up`,
      wrong: isFine ? [] : [`${shown(request)} → no answer: ${String(error)}`],
    };
  }
}
