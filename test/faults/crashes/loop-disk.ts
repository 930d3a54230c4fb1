import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const megabyte = 1024 * 1024;

/** Returns the reason why this machine cannot create such a disk, if there is one. */
export async function whyNoLoopDisk(folder: string): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'loop devices are of Linux';
  if (process.getuid?.() !== 0) return 'only root may mount a file';
  const disk = new LoopDisk(folder);
  try {
    await disk.make();
    return undefined;
  } catch (error) {
    return `a file cannot be mounted as ext4: ${(error as Error).message.trim()}`;
  } finally {
    await disk.unmount().catch(() => undefined);
  }
}

/**
 * An ext4 file system in a file, on a loop device. A power cut keeps exactly the completed writes.
 */
export class LoopDisk {
  readonly #image: string;
  readonly #mountPoint: string;
  readonly #megabytes: number;
  readonly #commitSeconds: number;
  #device = '';

  /**
   * Keeps its files in `folder`. Data that is not synced stays in memory for `commitSeconds`, so
   * that a power cut loses it.
   */
  constructor(folder: string, { megabytes = 96, commitSeconds = 300 } = {}) {
    this.#megabytes = megabytes;
    this.#commitSeconds = commitSeconds;
    this.#image = join(folder, 'disk.img');
    this.#mountPoint = join(folder, 'mounted');
  }

  /** A folder on the file system. */
  get data(): string {
    return join(this.#mountPoint, 'data');
  }

  async make(): Promise<void> {
    await mkdir(this.#mountPoint, { recursive: true });
    await writeFile(this.#image, '');
    await truncate(this.#image, this.#megabytes * megabyte);
    await run('mkfs.ext4', ['-q', '-F', this.#image]);
    await this.#mount();
  }

  async #mount(): Promise<void> {
    await run('mount', ['-o', `loop,commit=${this.#commitSeconds}`, this.#image, this.#mountPoint]);
    this.#device = (await run('findmnt', ['-n', '-o', 'SOURCE', this.#mountPoint])).stdout
      .trim()
      .replace('/dev/', '');
  }

  /** Waits for killed processes, which hold their files for a moment. */
  async unmount(): Promise<void> {
    for (let left = 50; ; left--) {
      try {
        await run('umount', [this.#mountPoint]);
        return;
      } catch (error) {
        if (left === 0) throw error;
        await sleep(100);
      }
    }
  }

  /** Copies the image while no write is in flight. Stop all writers first. */
  async copyAtAnInstant(): Promise<string> {
    const copy = `${this.#image}.copy`;
    for (let left = 100; left > 0; left--) {
      const before = await this.#writes();
      if (before.inFlight === 0) {
        await copyFile(this.#image, copy);
        const after = await this.#writes();
        if (after.inFlight === 0 && after.done === before.done) return copy;
      }
      await sleep(5);
    }
    throw new Error(`${this.#device} is never quiet`);
  }

  /** Reads the kernel's counts of completed writes and of those in flight. */
  async #writes(): Promise<{ done: number; inFlight: number }> {
    const numbers = (await readFile(`/sys/block/${this.#device}/stat`, 'utf8'))
      .trim()
      .split(/\s+/)
      .map(Number);
    return { done: numbers[4] ?? 0, inFlight: numbers[8] ?? 0 };
  }

  /** Restores the image from `copy`. The file system must not be in use. */
  async restore(copy: string): Promise<void> {
    await this.unmount();
    await rename(copy, this.#image);
    await this.#mount();
  }

  async remove(): Promise<void> {
    await this.unmount();
    await rm(this.#image);
  }
}
