import { connect } from 'node:net';
import { type Aim, answersTo } from './attack.ts';

const stillThere = '(still there)';

/**
 * Sends `head`, then `drip` repeatedly until the service closes the connection, at most for
 * `limitMs`. Returns the answer.
 */
function dripping(url: string, head: string, drip: string, limitMs: number): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let text = '';
    let dripper: NodeJS.Timeout | undefined;
    const socket = connect(Number(port), hostname, () => {
      socket.write(head);
      dripper = setInterval(() => socket.write(drip), limitMs / 50);
    });
    const limit = setTimeout(() => {
      text += stillThere;
      socket.destroy();
    }, limitMs);
    socket.setEncoding('latin1').on('data', (data) => {
      text += data;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(dripper);
      clearTimeout(limit);
      resolve(text);
    });
  });
}

/** Clients that never complete a request. Each must get 408 `request_timeout` within `limitMs`. */
export async function slowClients(
  url: string,
  { host, token, key, screenId }: Aim,
  limitMs: number,
): Promise<string[]> {
  const post = (path: string, bearer: string) =>
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${bearer}\r\nContent-Length: 10000\r\n\r\n{`;
  const slow: [string, string, string][] = [
    ['nothing at all', '', ''],
    ['a slow request line', 'GET /', 'x'],
    ['slow headers', `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `, 'x'],
    ['a slow body of a manager', post('/v1/venues', token), ' '],
    ['a slow body of a TV', post(`/devices/${screenId}/events`, key), ' '],
    ['a slow body of anybody', post('/devices/register', 'none'), ' '],
    [
      'a slow chunk',
      `POST /v1/venues HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n`,
      ' ',
    ],
  ];
  const found = await Promise.all(
    slow.map(async ([name, head, drip]) => {
      const text = await dripping(url, head, drip, limitMs);
      return text.startsWith('HTTP/1.1 408 ') && text.includes('"code":"request_timeout"')
        ? []
        : [`${name}: ${text || 'no answer'}`];
    }),
  );
  const after = await answersTo(
    url,
    `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
  );
  return [
    ...found.flat(),
    ...(after.startsWith('HTTP/1.1 200 ') ? [] : ['the service does not work afterwards']),
  ];
}
