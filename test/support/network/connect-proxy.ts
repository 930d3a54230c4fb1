// An HTTP proxy for CONNECT, with names of its own.
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { startLocally } from './local-server.ts';

interface ConnectProxyOptions {
  /** User name and password that the proxy asks for: `user:password`. */
  credentials?: string;
  /** Status of all answers to CONNECT, instead of a connection. */
  status?: number;
}

/**
 * Starts a proxy that connects each host `*.test` to the same port of this machine. No DNS server
 * knows these names (RFC 2606), so that only the proxy reaches them. Refuses all other hosts.
 * `asked` has all hosts so far.
 */
export async function startConnectProxy({ credentials, status }: ConnectProxyOptions = {}) {
  const asked: string[] = [];
  const server = createServer((_, response) => void response.writeHead(405).end());
  server.on('connect', ({ url = '', headers }, client: Socket) => {
    asked.push(url);
    client.on('error', () => {});
    const answer = (code: number) => client.end(`HTTP/1.1 ${code} Refused\r\n\r\n`);
    const basic = `Basic ${Buffer.from(credentials ?? '').toString('base64')}`;
    if (status !== undefined) return answer(status);
    if (credentials !== undefined && headers['proxy-authorization'] !== basic) return answer(407);
    const { hostname, port } = new URL(`http://${url}`);
    if (!hostname.endsWith('.test')) return answer(403);
    const upstream = connect(Number(port), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
    return undefined;
  });
  return { ...(await startLocally(server)), asked };
}
