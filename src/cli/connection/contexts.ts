import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SignageError } from '../../domain/error.ts';
import { othersCanWrite } from '../../domain/file-access.ts';
import { type FileUse, unusableFile } from '../input/file-error.ts';
import type { Io } from '../terminal/io.ts';
import { stateFile } from './state-file.ts';

/** A saved service with its token. */
export interface SavedContext {
  url: string;
  token: string;
  tokenId: string;
  /** Role of the token when the context was saved. */
  role: string;
  /** Id of the tenant to act in. */
  tenant?: string;
  caFile?: string;
  /** Whether `--insecure-http` was given when the context was saved. */
  insecureHttp?: boolean;
  /** Whether the service keeps its data, and so the token, only in memory. */
  inMemory?: boolean;
}

/** The content of the context file. */
export interface Contexts {
  /** The name of the default context. */
  current?: string;
  contexts: Record<string, SavedContext>;
}

/** Removes the prototype, so that names such as `constructor` are not found. */
const withoutPrototype = (contexts: Contexts['contexts']): Contexts['contexts'] =>
  Object.assign(Object.create(null), contexts);
const noContexts = (): Contexts => ({ contexts: withoutPrototype({}) });
const unusable = (message: string, hint: string) =>
  new SignageError('contexts_unusable', message, { hint });

/**
 * Returns the configuration folder: in `XDG_CONFIG_HOME` if set, else in the default folder of the
 * platform. Returns `undefined` without a home folder.
 */
async function configDir({ env }: Pick<Io, 'env'>): Promise<string | undefined> {
  if (env.XDG_CONFIG_HOME) return join(env.XDG_CONFIG_HOME, 'signage');
  if (env.HOME && process.platform !== 'darwin' && process.platform !== 'win32')
    return join(env.HOME, '.config', 'signage');
  if (!env.HOME && !env.USERPROFILE) return undefined;
  const { default: envPaths } = await import('env-paths');
  return envPaths('signage', { suffix: '' }).config;
}

/** Returns the path of the context file, or `undefined` without a home folder. */
export async function contextFile(io: Pick<Io, 'env'>): Promise<string | undefined> {
  const folder = await configDir(io);
  return folder && join(folder, 'contexts.json');
}

function isContext(value: unknown): value is SavedContext {
  const { url, token, tokenId, role, tenant, caFile } = (value ?? {}) as Record<string, unknown>;
  const isTextOrNone = (one: unknown) => one === undefined || typeof one === 'string';
  return (
    typeof url === 'string' &&
    URL.canParse(url) &&
    typeof token === 'string' &&
    typeof tokenId === 'string' &&
    typeof role === 'string' &&
    isTextOrNone(tenant) &&
    isTextOrNone(caFile)
  );
}

/** Throws if the content of the file is damaged. */
function parse(content: unknown): Contexts {
  const { contexts, current } = content as Contexts;
  const isValid =
    typeof contexts === 'object' &&
    Object.values(contexts).every(isContext) &&
    ['undefined', 'string'].includes(typeof current);
  if (!isValid) throw new TypeError('These are no contexts.');
  const known = current !== undefined && Object.hasOwn(contexts, current) ? { current } : {};
  return { ...known, contexts: withoutPrototype(contexts) };
}

const use: FileUse = {
  code: 'contexts_unusable',
  hint: 'Fix the cause, or set SIGNAGE_URL and SIGNAGE_TOKEN.',
};

const contextsIn = (file: string) =>
  stateFile<Contexts>(file, {
    parse,
    use,
    remedy: 'Repair it, or delete it and log in again: signage login',
    indent: 2,
  });

/**
 * Reads the saved contexts. Returns no contexts if the file does not exist. Throws
 * `contexts_unusable` if the file is unreadable or damaged, or if other users have access to it.
 */
export async function readContexts(io: Pick<Io, 'env'>): Promise<Contexts> {
  const file = await contextFile(io);
  const saved = file === undefined ? null : await contextsIn(file).read();
  return saved ?? noContexts();
}

/**
 * Creates the folder of the context file. Throws if other users can write to it, because they could
 * replace the file. They may read the folder, because the file in it is private.
 */
async function makeFolder(folder: string): Promise<void> {
  if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined)
    return chmod(folder, 0o700);
  const { mode } = await stat(folder);
  if (process.platform !== 'win32' && othersCanWrite(mode))
    throw unusable(
      `${folder} can be written to by other users of this machine.`,
      `chmod 700 ${folder}`,
    );
}

/** Throws `context_not_found` if the context does not exist. */
export function requireContext({ contexts }: Contexts, name: string): void {
  if (contexts[name] !== undefined) return;
  throw new SignageError('context_not_found', `There is no context "${name}".`, {
    hint: 'signage context list shows all contexts.',
  });
}

/** Whether the context has a platform token that no other context has. */
export function hasOnlyPlatformToken({ contexts }: Contexts, name: string): boolean {
  const saved = contexts[name];
  if (saved?.role !== 'platform') return false;
  return !Object.entries(contexts).some(
    ([other, { token }]) => other !== name && token === saved.token,
  );
}

/**
 * Changes the saved contexts and returns the path of the file. Throws `contexts_unusable` if the
 * file cannot be read or written.
 */
export async function changeContexts(
  io: Pick<Io, 'env'>,
  change: (saved: Contexts) => void,
): Promise<string> {
  const file = await contextFile(io);
  if (file === undefined)
    throw unusable(
      'There is no folder to save contexts in: neither HOME nor XDG_CONFIG_HOME is set.',
      'Set XDG_CONFIG_HOME.',
    );
  const saved = await readContexts(io);
  change(saved);
  await makeFolder(dirname(file)).catch((error: unknown) => {
    throw unusableFile(error, file, { ...use, access: 'written' });
  });
  await contextsIn(file).write(saved);
  return file;
}
