import { chmod, mkdir, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SignageError } from '../../domain/error.ts';
import type { Io } from '../terminal/io.ts';
import { configDir } from './config-dir.ts';

/** A service and a token under a name. */
export interface SavedContext {
  url: string;
  token: string;
  /** The tenant to act in, by id. */
  tenant?: string;
  caFile?: string;
  /** That http to another machine is all right was said when it was saved. */
  insecureHttp?: boolean;
}

/** All that is saved. */
export interface Contexts {
  /** The one that is used unless another is named. */
  current?: string;
  contexts: Record<string, SavedContext>;
}

/** Without a prototype, so that no name is found that nobody gave. */
const named = (contexts: Contexts['contexts']): Contexts['contexts'] =>
  Object.assign(Object.create(null), contexts);
const noContexts = (): Contexts => ({ contexts: named({}) });
const unusable = (message: string, hint: string) =>
  new SignageError('contexts_unusable', message, { hint });

/** The file that the contexts are in; `undefined` where there is no place for one. */
export async function contextFile(io: Pick<Io, 'env'>): Promise<string | undefined> {
  const folder = await configDir(io);
  return folder && join(folder, 'contexts.json');
}

function isContext(value: unknown): value is SavedContext {
  const { url, token, tenant, caFile } = (value ?? {}) as Record<string, unknown>;
  const isTextOrNone = (one: unknown) => one === undefined || typeof one === 'string';
  return (
    typeof url === 'string' &&
    URL.canParse(url) &&
    typeof token === 'string' &&
    isTextOrNone(tenant) &&
    isTextOrNone(caFile)
  );
}

function parse(text: string, file: string): Contexts {
  const broken = () =>
    unusable(`${file} is damaged.`, `Mend it, or delete it and log in again: signage login`);
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
  return { ...known, contexts: named(contexts) };
}

/** Tokens that others on the machine can read are as good as public. Windows keeps no such bits. */
function refuseLoose(mode: number, path: string, wanted: string): void {
  if (process.platform === 'win32' || (mode & 0o077) === 0) return;
  throw unusable(
    `${path} can be read by others on this machine (mode ${(mode & 0o777).toString(8).padStart(4, '0')}).`,
    `chmod ${wanted} ${path}`,
  );
}

/** What is saved; nothing where there is no file. Throws `contexts_unusable` when it is damaged or open to others. */
export async function readContexts(io: Pick<Io, 'env'>): Promise<Contexts> {
  const file = await contextFile(io);
  if (file === undefined) return noContexts();
  try {
    refuseLoose((await stat(file)).mode, file, '600');
    return parse(await readFile(file, 'utf8'), file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return noContexts();
    if (error instanceof SignageError) throw error;
    throw unusable(
      `${file} cannot be read: ${message}.`,
      'Mend that, or set SIGNAGE_URL and SIGNAGE_TOKEN.',
    );
  }
}

/** Replaces the file: written whole beside it, readable by its owner alone from the moment it exists, then moved into its place. */
async function replace(file: string, text: string): Promise<void> {
  const folder = dirname(file);
  if ((await mkdir(folder, { recursive: true, mode: 0o700 })) === undefined)
    refuseLooseFolder((await stat(folder)).mode, folder);
  else await chmod(folder, 0o700);
  const beside = `${file}.${crypto.randomUUID()}`;
  const handle = await open(beside, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
    await rename(beside, file);
  } catch (error) {
    await handle.close().catch(() => {});
    await unlink(beside).catch(() => {});
    throw error;
  }
}

/** Others may look into the folder, for the file itself is closed to them; but who may write there may put another in its place. */
function refuseLooseFolder(mode: number, folder: string): void {
  if (process.platform === 'win32' || (mode & 0o022) === 0) return;
  throw unusable(`${folder} can be written to by others on this machine.`, `chmod 700 ${folder}`);
}

/** Changes what is saved. Throws `contexts_unusable` when there is no place for it. */
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
    await replace(file, `${JSON.stringify(saved, null, 2)}\n`);
  } catch (error) {
    if (error instanceof SignageError) throw error;
    throw unusable(
      `${file} cannot be written: ${(error as Error).message}.`,
      'Mend that, or set SIGNAGE_URL and SIGNAGE_TOKEN instead.',
    );
  }
  return file;
}
