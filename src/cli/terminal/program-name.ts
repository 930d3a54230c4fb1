import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { shellQuote } from './text.ts';

interface Started {
  /** The script or executable that was started. */
  file: string;
  /** Whether Node runs the file. Otherwise it is an executable of its own. */
  isScript: boolean;
  cwd: string;
  path: string | undefined;
}

/**
 * Returns what somebody types to run this program again: `signage` if that is on the PATH,
 * otherwise the path as seen from the working directory, such as `node bin/signage.js`.
 */
export function programName({ file, isScript, cwd, path = '' }: Started): string {
  const own = realpathSync(file);
  const isOwn = (folder: string) => {
    const linked = join(folder, 'signage');
    return folder !== '' && existsSync(linked) && realpathSync(linked) === own;
  };
  if (path.split(delimiter).some(isOwn)) return 'signage';
  const shown = shellQuote(relative(cwd, file));
  return isScript ? `node ${shown}` : `./${shown}`;
}
