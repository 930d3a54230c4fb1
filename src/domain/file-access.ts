import { SignageError } from './error.ts';

const readable = 0o055;
const writable = 0o022;

/** Whether others on the machine, beside the owner, can read a file or folder of this mode. */
export const othersCanRead = (mode: number): boolean => (mode & readable) !== 0;

/** Whether others on the machine, beside the owner, can change a file or folder of this mode. */
export const othersCanWrite = (mode: number): boolean => (mode & writable) !== 0;

/** What others can do with a file or folder, and the command that takes it from them. */
export function othersCan(
  what: 'read' | 'write',
  path: string,
  mode: number,
  mend: string,
): string {
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  return `${path} can be ${what === 'read' ? 'read' : 'changed'} by others on this machine (mode ${shown}): ${mend}`;
}

/** A refusal to use what others can change. */
export function openToOthers(
  path: string,
  mode: number,
  mend: string,
  hint?: string,
): SignageError {
  return new SignageError(
    'open_to_others',
    othersCan('write', path, mode, mend),
    hint === undefined ? {} : { hint },
  );
}
