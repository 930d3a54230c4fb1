import { connect } from 'node:net';

/** What attacks are aimed at. */
export interface Aim {
  /** As it goes into `Host`. */
  host: string;
  /** Of a manager who may do everything: what gets through, counts. */
  token: string;
  /** Of a bound TV, and its screen. */
  key: string;
  screenId: string;
}

/**
 * Bytes to send on a connection of their own, and the statuses of all that is to come back on it
 * before it is closed.
 */
export interface Attack {
  name: string;
  bytes: string | Buffer;
  statuses: readonly number[];
  /** Of the last of them, when it is an error. */
  code?: string;
}

const patienceMs = 10_000;

/** All that comes back on one connection until it is closed. */
export function answersTo(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(
      Number(port),
      hostname,
      () => void socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes),
    );
    let text = '';
    const late = setTimeout(() => socket.destroy(new Error('late')), patienceMs);
    socket.setEncoding('latin1').on('data', (data) => {
      text += data;
    });
    socket.on('error', (error) => {
      if (error.message === 'late') text += '(the connection was left open)';
    });
    socket.on('close', () => {
      clearTimeout(late);
      resolve(text);
    });
  });
}

/** What is wrong with the answers to an attack; nothing when they are as they should be. */
export async function attack(
  url: string,
  { name, bytes, statuses, code }: Attack,
): Promise<string[]> {
  const text = await answersTo(url, bytes);
  const answered = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
  const wrong =
    answered.join() !== statuses.join()
      ? [`${answered.join() || 'no answer'} in place of ${statuses.join() || 'none'}`]
      : [];
  if (text.includes('(the connection was left open)')) wrong.push('the connection was left open');
  const errors = answered.filter((status) => status >= 400).length;
  if ([...text.matchAll(/"requestId":"[A-Za-z0-9._-]+"/g)].length !== errors)
    wrong.push('an error that is no problem document');
  if (
    [...text.matchAll(/^x-request-id: /gim)].length !==
    answered.filter((status) => status >= 200).length
  )
    wrong.push('no X-Request-Id');
  if (code !== undefined && !text.includes(`"code":"${code}"`)) wrong.push(`not ${code}`);
  return wrong.map((what) => `${name}: ${what}`);
}
