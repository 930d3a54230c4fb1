// A PostgreSQL server for tests, in a temporary folder and on a free port. It ends with the process
// that started it.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, chown, cp, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from '../network/free-port.ts';
import { postgresBinaries } from './postgres-binaries.ts';

/** The role that needs a password. */
export const secured = { user: 'secured', password: 'p@ss/word?' };

export interface PostgresServer {
  port: number;
  /** Also holds the Unix socket. */
  folder: string;
  /** Returns the URL of a database. */
  url(database: string): string;
  /** The main process of the server. */
  pid: number;
  /** Stops it cleanly (`INT`) or immediately (`QUIT`). */
  stop(signal?: 'INT' | 'QUIT'): Promise<void>;
  start(): Promise<void>;
  /** Stops it and removes its folder. */
  end(): Promise<void>;
}

interface Account {
  uid: number;
  gid: number;
}

/** PostgreSQL refuses to run as root. Returns the user `postgres` or `nobody` for that case. */
function account(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = ['postgres:', 'nobody:']
    .map((name) => lines.find((one) => one.startsWith(name)))
    .find((one) => one !== undefined);
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined)
    throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody.');
  return { uid: Number(uid), gid: Number(gid) };
}

/** Copies the binaries if their user cannot execute them, such as in the home folder of root. */
async function executableBinaries(
  binaries: string,
  folder: string,
  owner: Account | undefined,
): Promise<string> {
  const isOpen = await promisify(execFile)('test', ['-x', join(binaries, 'postgres')], {
    ...owner,
  }).then(
    () => true,
    () => false,
  );
  if (isOpen) return binaries;
  const copy = join(folder, 'native');
  await cp(dirname(binaries), copy, { recursive: true, verbatimSymlinks: true });
  if (owner) await promisify(execFile)('chown', ['-R', `${owner.uid}:${owner.gid}`, copy]);
  return join(copy, 'bin');
}

/**
 * Supervises the server: executes commands from stdin. When stdin closes, even after a crash of the
 * parent, it stops the server and removes the folder.
 */
const supervisor = `folder=$1; shift
start() { "$0/postgres" -D "$folder/data" "$@" >>"$folder/log" 2>&1 </dev/null & pid=$!; echo "$pid"; }
halt() { kill -"$1" "$pid" 2>/dev/null; wait "$pid"; }
start "$@"
while read -r command; do
  case $command in start) start "$@" ;; *) halt "$command"; echo stopped ;; esac
done
halt INT
cd /
rm -rf "$folder"
`;

const settings = [
  'listen_addresses=127.0.0.1',
  'max_connections=200',
  'shared_buffers=64MB',
  'log_min_messages=warning',
  'fsync=off',
  'full_page_writes=off',
];
const access = `host all ${secured.user} 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
`;

async function makeCluster(
  binaries: string,
  folder: string,
  owner: Account | undefined,
): Promise<void> {
  const data = join(folder, 'data');
  const options = [
    '--pgdata',
    data,
    '--username',
    'signage',
    '--auth',
    'trust',
    '--encoding',
    'UTF8',
    '--locale',
    'C',
    '--no-sync',
  ];
  await promisify(execFile)(join(binaries, 'initdb'), options, { ...owner, cwd: folder, env: {} });
  await writeFile(join(data, 'pg_hba.conf'), access);
}

/** Waits for matching output of the supervisor. */
async function waitForOutput(child: ChildProcess, pattern: RegExp): Promise<string> {
  for await (const [text] of on(child.stdout as Readable, 'data') as AsyncIterable<[Buffer]>) {
    const found = pattern.exec(String(text));
    if (found) return found[0];
  }
  throw new Error('the supervisor has ended');
}

async function waitUntilReady(url: string): Promise<void> {
  for (let attempts = 0; ; attempts++) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (attempts === 200) throw error;
      await pause(50);
    }
  }
}

interface ServerOptions {
  /** Folder of the binaries. Default: `postgresBinaries()`. */
  binaries?: string | undefined;
  /** Additional settings, such as `fsync=on`. */
  settings?: readonly string[];
  /** Files for the folder of the server, by name. */
  files?: Readonly<Record<string, string>>;
}

async function putFiles(
  folder: string,
  files: Readonly<Record<string, string>>,
  owner: Account | undefined,
): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    if (owner) await chown(join(folder, name), owner.uid, owner.gid);
  }
}

export async function startPostgres({
  binaries: found,
  settings: more = [],
  files = {},
}: ServerOptions = {}): Promise<PostgresServer> {
  const owner = account();
  const folder = await mkdtemp(join(tmpdir(), 'signage-postgres-'));
  await chmod(folder, 0o700);
  if (owner) await chown(folder, owner.uid, owner.gid);
  const binaries = await executableBinaries(found ?? postgresBinaries(), folder, owner);
  await putFiles(folder, files, owner);
  await makeCluster(binaries, folder, owner);
  const port = await freePort();
  const options = [
    ...settings,
    `port=${port}`,
    `unix_socket_directories=${folder}`,
    ...more,
  ].flatMap((setting) => ['-c', setting]);
  const child = spawn('sh', ['-c', supervisor, binaries, folder, ...options], {
    ...owner,
    cwd: folder,
    env: {},
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.unref();
  const url = (database: string) => `postgres://signage@127.0.0.1:${port}/${database}`;
  const send = async (command: string, pattern: RegExp) => {
    const output = waitForOutput(child, pattern);
    child.stdin?.write(`${command}\n`);
    return output;
  };
  const server: PostgresServer = {
    port,
    folder,
    url,
    pid: Number(await waitForOutput(child, /\d+/)),
    async stop(signal = 'INT') {
      await send(signal, /stopped/);
    },
    async start() {
      server.pid = Number(await send('start', /\d+/));
      await waitUntilReady(url('postgres'));
    },
    async end() {
      child.stdin?.end();
      await once(child, 'close');
    },
  };
  await waitUntilReady(url('postgres'));
  return server;
}
