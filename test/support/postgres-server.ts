// A PostgreSQL server for tests: in a temporary folder, on a free port of this machine, gone with
// whoever started it.
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
import { freePort } from './free-port.ts';
import { postgresBinaries } from './postgres-binaries.ts';

/** A role that must show its password; all others are let in. */
export const secured = { user: 'secured', password: 'p@ss/word?' };

export interface PostgresServer {
  port: number;
  /** Has its Unix socket, too. */
  folder: string;
  /** Of a database on it. */
  url(database: string): string;
  /** The server's first process. */
  pid: number;
  /** In good order (`INT`), or at once (`QUIT`). */
  stop(signal?: 'INT' | 'QUIT'): Promise<void>;
  start(): Promise<void>;
  /** Stops it, and removes its folder. */
  end(): Promise<void>;
}

interface Account {
  uid: number;
  gid: number;
}

/** PostgreSQL refuses to run as root: then it runs as `postgres`, else as `nobody`. */
function account(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = ['postgres:', 'nobody:']
    .map((name) => lines.find((one) => one.startsWith(name)))
    .find((one) => one !== undefined);
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined)
    throw new Error(
      'PostgreSQL does not run as root, and there is no user postgres or nobody to run it as.',
    );
  return { uid: Number(uid), gid: Number(gid) };
}

/**
 * The binaries where their user can run them: a checkout in root's own folder is closed to others,
 * and they are copied.
 */
async function withinReach(
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
 * Keeps the server: does what it is told on stdin, and when that closes, as it does however the
 * starter ends, it stops the server and removes the folder.
 */
const keeper = `folder=$1; shift
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
  ...[
    'listen_addresses=127.0.0.1',
    'max_connections=200',
    'shared_buffers=64MB',
    'log_min_messages=warning',
  ],
  // Nothing in here is worth a disk's wait.
  ...['fsync=off', 'full_page_writes=off'],
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

/** Waits for a line of the keeper's that is one of these. */
async function heard(child: ChildProcess, pattern: RegExp): Promise<string> {
  for await (const [text] of on(child.stdout as Readable, 'data') as AsyncIterable<[Buffer]>) {
    const found = pattern.exec(String(text));
    if (found) return found[0];
  }
  throw new Error('the keeper has ended');
}

async function untilItAnswers(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (tries === 200) throw error;
      await pause(50);
    }
  }
}

interface ServerOptions {
  /** The folder of the binaries; what this machine has unless said. */
  binaries?: string | undefined;
  /** More settings: `fsync=on`. */
  settings?: readonly string[];
  /** Files to be put into the server's folder, by name. */
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

/** Starts a server of its own. */
export async function startPostgres({
  binaries: found,
  settings: more = [],
  files = {},
}: ServerOptions = {}): Promise<PostgresServer> {
  const owner = account();
  const folder = await mkdtemp(join(tmpdir(), 'signage-postgres-'));
  await chmod(folder, 0o700);
  if (owner) await chown(folder, owner.uid, owner.gid);
  const binaries = await withinReach(found ?? postgresBinaries(), folder, owner);
  await putFiles(folder, files, owner);
  await makeCluster(binaries, folder, owner);
  const port = await freePort();
  const options = [
    ...settings,
    `port=${port}`,
    `unix_socket_directories=${folder}`,
    ...more,
  ].flatMap((setting) => ['-c', setting]);
  const child = spawn('sh', ['-c', keeper, binaries, folder, ...options], {
    ...{ ...owner, cwd: folder, env: {}, detached: true, stdio: ['pipe', 'pipe', 'inherit'] },
  });
  child.unref();
  const url = (database: string) => `postgres://signage@127.0.0.1:${port}/${database}`;
  const tell = async (command: string, answer: RegExp) => {
    const answered = heard(child, answer);
    child.stdin?.write(`${command}\n`);
    return answered;
  };
  const server: PostgresServer = {
    port,
    folder,
    url,
    pid: Number(await heard(child, /\d+/)),
    async stop(signal = 'INT') {
      await tell(signal, /stopped/);
    },
    async start() {
      server.pid = Number(await tell('start', /\d+/));
      await untilItAnswers(url('postgres'));
    },
    async end() {
      child.stdin?.end();
      await once(child, 'close');
    },
  };
  await untilItAnswers(url('postgres'));
  return server;
}
