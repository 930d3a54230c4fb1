import { connect } from 'node:net';
import type { ListenerOptions } from '../../../src/http/listener/listener.ts';
import { adminToken, managerAt } from '../../support/service/service.ts';
import { type Defect, serveWithDefect } from '../../support/stores/seeded-defects.ts';

/** The target of attacks. */
export interface Aim {
  /** Value of `Host`. */
  host: string;
  /** Token with all rights, so that requests that pass have an effect. */
  token: string;
  /** Key of a bound TV, and its screen. */
  key: string;
  screenId: string;
}

/** Bytes for one connection, and the expected statuses until it is closed. */
export interface Attack {
  name: string;
  bytes: string | Buffer;
  statuses: readonly number[];
  /** Error code of the last response. */
  code?: string;
}

const stillOpen = '(the connection was left open)';

/**
 * Returns everything received on a connection until it is closed, at the latest after `limitMs`.
 * `drip` is sent again and again after the bytes.
 */
function answersTo(
  url: string,
  bytes: string | Buffer,
  { drip = '', limitMs = 10_000 } = {},
): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let text = '';
    let dripper: NodeJS.Timeout | undefined;
    const socket = connect(Number(port), hostname, () => {
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
      if (drip !== '') dripper = setInterval(() => socket.write(drip), limitMs / 50);
    });
    const limit = setTimeout(() => {
      text += stillOpen;
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

/** Returns the violations of the answers to an attack. */
async function attack(url: string, { name, bytes, statuses, code }: Attack): Promise<string[]> {
  const text = await answersTo(url, bytes);
  const answered = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
  const count = (pattern: RegExp) => [...text.matchAll(pattern)].length;
  const wrong: string[] = [];
  if (answered.join() !== statuses.join())
    wrong.push(`${answered.join() || 'no answer'} in place of ${statuses.join() || 'none'}`);
  if (text.includes(stillOpen)) wrong.push('the connection was left open');
  const errors = answered.filter((status) => status >= 400).length;
  if (count(/"requestId":"[A-Za-z0-9._-]+"/g) !== errors)
    wrong.push('an error that is no problem document');
  const finals = answered.filter((status) => status >= 200).length;
  if (count(/^x-request-id: /gim) !== finals) wrong.push('no X-Request-Id');
  if (code !== undefined && !text.includes(`"code":"${code}"`)) wrong.push(`not ${code}`);
  return wrong.map((what) => `${name}: ${what}`);
}

async function get(url: string, key: string, path: string): Promise<string> {
  const answer = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${key}` } });
  return `${path} ${answer.status} ${await answer.text()}\n`;
}

/** Returns the records that an attack must not change. */
async function contents(url: string, { token }: Aim): Promise<string> {
  const names = ['venues', 'screens', 'events', 'audit', 'tokens'];
  const parts = await Promise.all(names.map((name) => get(url, token, `/v1/${name}?limit=200`)));
  return parts.join('').replaceAll(/"(lastUsedAt|lastSeenAt)":"[^"]*"/g, '');
}

/** Runs all attacks, some concurrently. Returns the violations. */
export async function runAttacks(
  url: string,
  aim: Aim,
  attacks: readonly Attack[],
): Promise<string[]> {
  const before = await contents(url, aim);
  const findings: string[] = [];
  const left = [...attacks];
  const work = async () => {
    for (let one = left.shift(); one; one = left.shift())
      findings.push(...(await attack(url, one)));
  };
  await Promise.all(Array.from({ length: 8 }, work));
  if ((await contents(url, aim)) !== before) findings.push('something was stored');
  const config = `/devices/${aim.screenId}/config`;
  if (!(await get(url, aim.key, config)).startsWith(`${config} 200`))
    findings.push('the service does not work afterwards');
  return findings;
}

/** Clients that never complete a request. Each must get 408 `request_timeout` within `limitMs`. */
export async function slowClients(
  url: string,
  { host, token, key, screenId }: Aim,
  limitMs: number,
): Promise<string[]> {
  const post = (path: string, bearer: string, length = 'Content-Length: 10000\r\n\r\n{') =>
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${bearer}\r\n${length}`;
  const slow: [name: string, bytes: string, drip: string][] = [
    ['nothing at all', '', ''],
    ['a slow request line', 'GET /', 'x'],
    ['slow headers', `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `, 'x'],
    ['a slow body of a manager', post('/v1/venues', token), ' '],
    ['a slow body of a TV', post(`/devices/${screenId}/events`, key), ' '],
    ['a slow body of anybody', post('/devices/register', 'none'), ' '],
    ['a slow chunk', post('/v1/venues', token, 'Transfer-Encoding: chunked\r\n\r\n186a0\r\n'), ' '],
  ];
  const found = await Promise.all(
    slow.map(async ([name, bytes, drip]) => {
      const text = await answersTo(url, bytes, { drip, limitMs });
      return text.startsWith('HTTP/1.1 408 ') && text.includes('"code":"request_timeout"')
        ? []
        : [`${name}: ${text || 'no answer'}`];
    }),
  );
  const after = await get(url, token, '/healthz');
  return [
    ...found.flat(),
    ...(after.startsWith('/healthz 200 ') ? [] : ['the service does not work afterwards']),
  ];
}

/** Wrappers around the service. Default: none. */
export interface Around extends Defect {
  limits?: ListenerOptions['limits'];
  /** Wraps the network between clients and listener. Returns its URL. */
  network?(url: string): Promise<{ url: string; close(): Promise<void> }>;
}

/** Runs `work` with a service in memory on the real listener, with one bound TV. */
export async function fronted<T>(
  { limits, network, ...defect }: Around,
  work: (url: string, aim: Aim) => Promise<T>,
): Promise<T> {
  const service = await serveWithDefect(defect, { limits });
  const management = managerAt(service.url, adminToken);
  const { id: venueId } = await management.venue('Lobby');
  const { id: screenId } = await management.screen(venueId, 'Main');
  const { apiKey } = await management.tv(screenId);
  const before = await network?.(service.url);
  const url = before?.url ?? service.url;
  try {
    return await work(url, { host: new URL(url).host, token: adminToken, key: apiKey, screenId });
  } finally {
    await before?.close();
    await service.close();
  }
}
