import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { SignageError } from '../../../domain/error.ts';

/** Address and credentials of a database. */
export interface DatabaseAddress {
  host: string;
  port: number;
  database: string;
  user: string;
  password: string;
  /** The driver's TLS option: `false`, `prefer`, or the checks of the certificate. */
  ssl:
    | false
    | 'prefer'
    | { rejectUnauthorized: boolean; ca?: string; checkServerIdentity?: () => undefined };
  applicationName: string;
  /**
   * Whether a pooler shares sessions. Then no state may outlive a transaction: no prepared
   * statements, settings or LISTEN.
   */
  isPooled: boolean;
}

const modes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
const parameters = ['host', 'sslmode', 'sslrootcert', 'application_name', 'prepare'];

const invalidUrl = (message: string) =>
  new SignageError('invalid_option', `The URL of the database: ${message}`);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidUrl('a % must be followed by two hex digits; write %25 for the sign itself.');
  }
}

/**
 * Whether connections to the host stay on this machine: a Unix socket or a loopback address.
 * `localhost` is the only accepted name, because others may resolve to remote addresses.
 */
function isLocal(host: string): boolean {
  return (
    host.startsWith('/') ||
    host.toLowerCase() === 'localhost' ||
    host === '::1' ||
    (isIPv4(host) && host.startsWith('127.'))
  );
}

/**
 * Returns the default `sslmode`. If the URL names a certificate authority, certificates are
 * verified, even on this machine.
 */
function defaultMode(host: string, query: URLSearchParams): (typeof modes)[number] {
  return isLocal(host) && !query.has('sslrootcert') ? 'disable' : 'verify-full';
}

function tlsOf(host: string, query: URLSearchParams): DatabaseAddress['ssl'] {
  const mode = query.get('sslmode') ?? defaultMode(host, query);
  if (!modes.some((one) => one === mode))
    throw invalidUrl(`sslmode must be one of ${modes.join(', ')}.`);
  if (mode === 'disable') return false;
  if (mode === 'prefer') return 'prefer';
  const file = query.get('sslrootcert');
  if (mode === 'require' && file === null) return { rejectUnauthorized: false };
  const ca = file === null || file === 'system' ? {} : { ca: certificates(file) };
  const anyName = mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined };
  return { rejectUnauthorized: true, ...ca, ...anyName };
}

function isPooled(prepare: string): boolean {
  if (prepare !== 'true' && prepare !== 'false') throw invalidUrl('prepare must be true or false.');
  return prepare === 'false';
}

function certificates(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw invalidUrl(`sslrootcert ${file} cannot be read.`);
  }
}

/**
 * Parses `postgres://user:password@host:port/database?sslmode=verify-full&sslrootcert=ca.pem`.
 * `host=/folder` names the folder of a Unix socket. Default of `sslmode`: `disable` on this
 * machine, otherwise `verify-full`. Set `prepare=false` for poolers that share sessions, such as
 * PgBouncer in `transaction` mode. Throws `invalid_option`; messages never contain the password.
 */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  if (!URL.canParse(url))
    throw invalidUrl('it must look like postgres://user:password@host:5432/database.');
  const { hostname, port, username, password, pathname, searchParams: query } = new URL(url);
  const unknown = [...query.keys()].find((name) => !parameters.includes(name));
  if (unknown !== undefined)
    throw invalidUrl(
      `the parameter ${JSON.stringify(unknown)} is unknown. The parameters are ${parameters.join(', ')}.`,
    );
  const host = query.get('host') ?? decoded(hostname).replace(/^\[(.*)\]$/, '$1');
  const database = decoded(pathname.slice(1));
  if (host === '') throw invalidUrl('it names no host.');
  if (database === '' || database.includes('/'))
    throw invalidUrl('it must name one database: postgres://user@host/database.');
  if (username === '') throw invalidUrl('it must name a user: postgres://user@host/database.');
  if (port === '0') throw invalidUrl('its port must be from 1 to 65535.');
  return {
    host,
    port: port === '' ? 5432 : Number(port),
    database,
    user: decoded(username),
    password: decoded(password),
    ssl: tlsOf(host, query),
    applicationName: query.get('application_name') ?? 'signage',
    isPooled: isPooled(query.get('prepare') ?? 'true'),
  };
}
