import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SignageError } from '../../domain/error.ts';
import { othersCanWrite } from '../../domain/file-access.ts';
import { fileProblem } from '../options/file-error.ts';
import type { Io } from '../terminal/io.ts';
import { readPrivateFile, replaceFile } from './private-file.ts';

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

function parse(text: string, file: string): Contexts {
  const broken = () =>
    unusable(`${file} is damaged.`, 'Repair it, or delete it and log in again: signage login');
  let value: Partial<Contexts> | null;
  try {
    value = JSON.parse(text) as Partial<Contexts> | null;
  } catch {
    throw broken();
  }
  const { contexts, current } = value ?? {};
  if (
    typeof contexts !== 'object' ||
    contexts === null ||
    !Object.values(contexts).every(isContext)
  )
    throw broken();
  if (current !== undefined && typeof current !== 'string') throw broken();
  const known = current !== undefined && Object.hasOwn(contexts, current) ? { current } : {};
  return { ...known, contexts: withoutPrototype(contexts) };
}

/**
 * Reads the saved contexts. Returns no contexts if the file does not exist. Throws
 * `contexts_unusable` if the file is unreadable or damaged, or if other users have access to it.
 */
export async function readContexts(io: Pick<Io, 'env'>): Promise<Contexts> {
  const file = await contextFile(io);
  if (file === undefined) return noContexts();
  try {
    const text = await readPrivateFile(file, 'contexts_unusable');
    return text === undefined ? noContexts() : parse(text, file);
  } catch (error) {
    if (error instanceof SignageError) throw error;
    throw unusable(
      `${fileProblem(error, file)}.`,
      'Fix the cause, or set SIGNAGE_URL and SIGNAGE_TOKEN.',
    );
  }
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
  try {
    await makeFolder(dirname(file));
    await replaceFile(file, `${JSON.stringify(saved, null, 2)}\n`);
  } catch (error) {
    if (error instanceof SignageError) throw error;
    throw unusable(
      `${fileProblem(error, file, 'written')}.`,
      'Fix the cause, or set SIGNAGE_URL and SIGNAGE_TOKEN instead.',
    );
  }
  return file;
}
