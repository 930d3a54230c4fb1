import { Agent, request } from 'node:http';

/** A request whose headers are sent unchanged, as alternating names and values. */
export interface WireRequest {
  method: string;
  path: string;
  headers: readonly string[];
  body?: Uint8Array | undefined;
}

export interface WireAnswer {
  status: number | undefined;
  /** Lower-case names and values, sorted. */
  headers: [name: string, value: string][];
  text: string;
}

const agent = new Agent({ keepAlive: true });

/** Sends a request over a keep-alive connection, without the checks of `fetch`. */
export function wireRequest(
  url: string,
  { method, path, headers, body }: WireRequest,
): Promise<WireAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request(
      { agent, hostname, port, method, path, headers: headers as string[], setHost: false },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('end', () => {
          const pairs = answer.rawHeaders.flatMap((name, at): [string, string][] =>
            at % 2 === 0 ? [[name.toLowerCase(), answer.rawHeaders[at + 1] as string]] : [],
          );
          resolve({
            status: answer.statusCode,
            headers: pairs.sort(([a], [b]) => (a < b ? -1 : 1)),
            text: Buffer.concat(chunks).toString(),
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
