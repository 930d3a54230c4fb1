import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';

export interface LateRequest {
  method: string;
  path: string;
  key: string;
  body: unknown;
  /**
   * Sends the body in chunks, without `Content-Length`. Default: a body of more than 16 KiB, so
   * that the listener does not buffer it.
   */
  chunked?: boolean;
  headers?: Record<string, string>;
}

export interface LateAnswer {
  status: number;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  body: any;
}

const paddedBytes = 20_000;

/**
 * Sends the head of a request and the first half of its body. `begun` resolves when the operating
 * system has accepted them. `finish` sends the rest and returns the answer, which may be early.
 */
export function lateRequest(
  url: string,
  { method, path, key, body, chunked = false, headers = {} }: LateRequest,
) {
  const text = JSON.stringify(body);
  const whole = Buffer.from(
    chunked ? text : text + ' '.repeat(Math.max(0, paddedBytes - text.length)),
  );
  const half = Math.floor(text.length / 2);
  const { hostname, port } = new URL(url);
  const length = chunked ? {} : { 'Content-Length': String(whole.length) };
  const own = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    ...length,
    ...headers,
  };
  const sent = request({ agent: false, hostname, port, method, path, headers: own });
  const receive = async (): Promise<LateAnswer> => {
    const [incoming] = (await once(sent, 'response')) as [IncomingMessage];
    const received = await textOf(incoming);
    sent.destroy();
    return {
      status: incoming.statusCode ?? 0,
      text: received,
      body: received === '' ? undefined : JSON.parse(received),
    };
  };
  const answer = receive();
  // Awaited in `finish`.
  answer.catch(() => {});
  const begun = new Promise<void>(
    (resolve, reject) =>
      void sent.write(whole.subarray(0, half), (error) => (error ? reject(error) : resolve())),
  );
  return {
    begun,
    finish(): Promise<LateAnswer> {
      sent.end(whole.subarray(half));
      return answer;
    },
  };
}
