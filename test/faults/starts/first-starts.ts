import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freePort } from '../../support/network/free-port.ts';
import { startProcess } from '../../support/process/signage-process.ts';

const token = `mak_${'FirstStarts'.repeat(3)}`;
const pollMs = 1;
/** Concurrent requests on connections of their own. */
const paths = ['/v1/me', '/readyz', '/v1/me'];

/** A service under test. */
export interface Started {
  port: number;
  /** Rejects when the service ends by itself. */
  ended: Promise<never>;
  end(): Promise<void>;
}

/** Starts the built service on a store without waiting for it. */
async function startBuilt(
  store: string,
  data: string,
  program = 'bin/signage.js',
): Promise<Started> {
  const port = await freePort();
  const argv = [program, 'serve', '--port', String(port), '--data', data, '--no-context'];
  const process = startProcess(argv, { env: { SIGNAGE_ADMIN_TOKEN: token, SIGNAGE_STORE: store } });
  const ended = process.ended.then((code): never => {
    throw new Error(`signage serve ended with ${code}: ${process.err()}`);
  });
  ended.catch(() => {});
  const end = async () => {
    process.signal('SIGKILL');
    await process.ended;
  };
  return { port, ended, end };
}

/** Connects as soon as the port is open. */
async function firstConnection(port: number, isOver: () => boolean): Promise<Socket> {
  while (!isOver()) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return socket;
    } catch {
      await sleep(pollMs);
    }
  }
  throw new Error('The service never listened.');
}

async function answerTo(socket: Socket, path: string): Promise<string> {
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: signage\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
  );
  return text(socket);
}

/**
 * Sends requests with the token as soon as the service accepts connections. Returns answers other
 * than 200.
 */
async function askAtOnce({ port, ended }: Started): Promise<string[]> {
  let isOver = false;
  const asked = paths.map(async (path) => {
    const answer = await answerTo(await firstConnection(port, () => isOver), path);
    return answer.startsWith('HTTP/1.1 200') ? [] : [`${path}: ${answer}`];
  });
  try {
    return (await Promise.race([Promise.all(asked), ended])).flat();
  } finally {
    isOver = true;
    await Promise.allSettled(asked);
  }
}

/**
 * Starts services on one new store at the same moment. Returns all first answers other than 200.
 */
export async function firstStart(starts: readonly (() => Promise<Started>)[]): Promise<string[]> {
  const started = await Promise.all(starts.map((start) => start()));
  try {
    return (await Promise.all(started.map(askAtOnce))).flat();
  } finally {
    await Promise.all(started.map(({ end }) => end()));
  }
}

/** Starts a service on a new data folder. */
export async function startOnFolder(program?: string): Promise<string[]> {
  const folder = await temporaryFolder();
  try {
    return await firstStart([() => startBuilt('json', folder, program)]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts two instances on an empty database at the same moment. */
export async function startOnDatabase(database: string, program?: string): Promise<string[]> {
  const folder = await temporaryFolder();
  return firstStart([1, 2].map(() => () => startBuilt(database, folder, program)));
}
