import { join } from 'node:path';
import type { Io } from '../terminal/io.ts';

/**
 * The folder of the command line's own settings, or `undefined` where the environment names no home at all.
 * `XDG_CONFIG_HOME` counts everywhere; else it is where the platform keeps such things.
 */
export async function configDir({ env }: Pick<Io, 'env'>): Promise<string | undefined> {
  if (env.XDG_CONFIG_HOME) return join(env.XDG_CONFIG_HOME, 'signage');
  if (env.HOME && process.platform !== 'darwin' && process.platform !== 'win32')
    return join(env.HOME, '.config', 'signage');
  if (!env.HOME && !env.USERPROFILE) return undefined;
  const { default: envPaths } = await import('env-paths');
  return envPaths('signage', { suffix: '' }).config;
}
