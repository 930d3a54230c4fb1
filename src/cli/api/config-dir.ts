import { join } from 'node:path';
import type { Io } from '../terminal/io.ts';

/**
 * Returns the configuration folder: in `XDG_CONFIG_HOME` if set, else in the default place of the
 * platform. Returns `undefined` without a home folder.
 */
export async function configDir({ env }: Pick<Io, 'env'>): Promise<string | undefined> {
  if (env.XDG_CONFIG_HOME) return join(env.XDG_CONFIG_HOME, 'signage');
  if (env.HOME && process.platform !== 'darwin' && process.platform !== 'win32')
    return join(env.HOME, '.config', 'signage');
  if (!env.HOME && !env.USERPROFILE) return undefined;
  const { default: envPaths } = await import('env-paths');
  return envPaths('signage', { suffix: '' }).config;
}
