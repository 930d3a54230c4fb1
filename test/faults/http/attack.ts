import { connect } from 'node:net';

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

const patienceMs = 10_000;

/** Returns everything received on a connection until it is closed. */
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

/** Returns the violations of the answers to an attack. */
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
