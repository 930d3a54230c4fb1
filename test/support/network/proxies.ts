// Proxies in front of a service: nginx and HAProxy if they are installed, and stand-ins for both.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../disk/temporary-folder.ts';
import { afterEachFile } from '../runtime/clean-up.ts';
import { freePort } from './free-port.ts';
import { startLocally } from './local-server.ts';

export interface ProxyOptions {
  /** How long the service may take for an answer, in seconds. Default: that of the proxy. */
  timeoutSeconds?: number;
  /** Keeps the request going when its client disconnects. Default: false. */
  ignoresClientAbort?: boolean;
}

/** Starts a proxy in front of `target`, and returns its URL. */
export type StartProxy = (target: string, options?: ProxyOptions) => Promise<string>;

const closings: (() => void)[] = [];
afterEachFile(async () => {
  for (const close of closings.splice(0)) close();
});

const found = (paths: readonly string[]) => paths.find((path) => existsSync(path));
export const nginxPath = found(['/usr/sbin/nginx', '/usr/local/sbin/nginx']);
export const haproxyPath = found(['/usr/sbin/haproxy', '/usr/local/sbin/haproxy']);

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await Promise.race([
    once(socket, 'connect').then(
      () => true,
      () => false,
    ),
    sleep(1000, false),
  ]);
  socket.destroy();
  return isOpen;
}

/** Waits until a started program accepts connections. */
async function ready(program: ChildProcess, port: number): Promise<string> {
  closings.push(() => program.kill());
  let said = '';
  program.stderr?.on('data', (data) => {
    said += data;
  });
  for (let n = 0; n < 100 && program.exitCode === null; n++) {
    if (await accepts(port)) return `http://127.0.0.1:${port}`;
    await sleep(50);
  }
  throw new Error(`${program.spawnfile} does not listen: ${said}`);
}

/** Starts nginx with the contents of its block `http`. `port` is the port that it listens on. */
export async function startNginxWith(http: string, port: number): Promise<string> {
  const folder = await temporaryFolder();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr;
    events { worker_connections 256; }
    http { access_log off; ${temporary.join(' ')} ${http} }`,
  );
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
  return ready(spawn(nginxPath as string, args), port);
}

/** nginx with its defaults: HTTP/1.0 to the service, buffering, 60 seconds for an answer. */
export const startNginx: StartProxy = async (
  target,
  { timeoutSeconds, ignoresClientAbort = false } = {},
) => {
  const port = await freePort();
  const location = [
    `proxy_pass ${target};`,
    ...(timeoutSeconds === undefined ? [] : [`proxy_read_timeout ${timeoutSeconds}s;`]),
    ...(ignoresClientAbort ? ['proxy_ignore_client_abort on;'] : []),
  ];
  const server = `server { listen 127.0.0.1:${port}; location / { ${location.join(' ')} } }`;
  return startNginxWith(server, port);
};

/** HAProxy. Default: 30 seconds for an answer, as in many of its examples. */
export const startHaproxy: StartProxy = async (
  target,
  { timeoutSeconds = 30, ignoresClientAbort = false } = {},
) => {
  const folder = await temporaryFolder();
  const port = await freePort();
  const config = join(folder, 'haproxy.cfg');
  await writeFile(
    config,
    `defaults
  mode http
  timeout connect 5s
  timeout client ${timeoutSeconds}s
  timeout server ${timeoutSeconds}s
  ${ignoresClientAbort ? 'no option abortonclose' : 'option abortonclose'}
listen signage
  bind 127.0.0.1:${port}
  server one ${new URL(target).host}
`,
  );
  return ready(spawn(haproxyPath as string, ['-db', '-f', config]), port);
};

/** Stand-in for nginx with its defaults: one HTTP/1.0 connection for each request. */
export const startStandIn: StartProxy = async (
  target,
  { timeoutSeconds = 60, ignoresClientAbort = false } = {},
) => {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const upstream = connect(Number(port), hostname);
    const { authorization = '' } = incoming.headers;
    upstream.write(
      `${incoming.method} ${incoming.url} HTTP/1.0\r\nHost: ${hostname}:${port}\r\n` +
        `Connection: close\r\nAuthorization: ${authorization}\r\n\r\n`,
    );
    const tooLate = setTimeout(() => {
      upstream.destroy();
      outgoing.writeHead(504).end();
    }, timeoutSeconds * 1000);
    outgoing.on('close', () => {
      clearTimeout(tooLate);
      if (!ignoresClientAbort) upstream.destroy();
    });
    let received = '';
    upstream.setEncoding('latin1').on('data', (data) => {
      received += data;
    });
    upstream.on('error', () => {});
    upstream.on('end', () => {
      const [head = '', body = ''] = received.split('\r\n\r\n');
      outgoing.writeHead(Number(head.split(' ')[1]), { 'content-type': 'application/json' });
      outgoing.end(body);
    });
  });
  return (await startLocally(server)).url;
};

/** Sends a GET on a connection that stays open for others. Resolves with status and body. */
export async function get(url: string, key: string, signal?: AbortSignal) {
  const headers = { authorization: `Bearer ${key}` };
  const sent = request(url, { headers, ...(signal && { signal }) }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, body: await text(answer) };
}
