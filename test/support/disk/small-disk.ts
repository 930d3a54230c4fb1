import { execFileSync } from 'node:child_process';
import { afterEachFile } from '../runtime/clean-up.ts';
import { temporaryFolder } from './temporary-folder.ts';

const mounted: string[] = [];
afterEachFile(async () => {
  for (const disk of mounted.splice(0)) execFileSync('umount', ['-l', disk]);
});

/** Whether this process may mount a disk. */
export const mayMount = process.platform === 'linux' && process.getuid?.() === 0;

/** Mounts a disk of this size, such as `70m`, in memory, until the end of the test file. */
export async function smallDisk(size: string): Promise<string> {
  const disk = await temporaryFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk], { stdio: 'ignore' });
  mounted.push(disk);
  return disk;
}
