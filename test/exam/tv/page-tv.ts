import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const page = new URL('../../../docs/tv.md', import.meta.url);
const fastTime = fileURLToPath(new URL('fast-time.js', import.meta.url));

/** Returns the program of docs/tv.md as it stands there. */
function programOfPage(): string {
  const [, program] = /^```js\n(\/\/ tv\.mjs.*?)^```$/ms.exec(readFileSync(page, 'utf8')) ?? [];
  if (program === undefined) throw new Error('docs/tv.md has no program tv.mjs.');
  return program;
}

export interface PageTvOptions {
  /** An empty folder for the program and its state. */
  folder: string;
  pace: number;
  url: string;
  nextCode(signal: AbortSignal): Promise<string>;
}

/** The TV of docs/tv.md in a process of its own. A person types a new code when it ends. */
export class PageTv {
  readonly #options: PageTvOptions;
  readonly #startedMs = Date.now();
  #power: AbortController | undefined;
  #life: Promise<void> = Promise.resolve();
  /** Given to the program again after a power cut. */
  #code = '';

  constructor(options: PageTvOptions) {
    this.#options = options;
    writeFileSync(join(options.folder, 'tv.mjs'), programOfPage());
  }

  powerOn(): void {
    this.#power = new AbortController();
    this.#life = this.#live(this.#power.signal);
  }

  /** Kills the program, as a power cut does. */
  async powerOff(): Promise<void> {
    this.#power?.abort();
    await this.#life;
  }

  async #live(power: AbortSignal): Promise<void> {
    while (!power.aborted) {
      if (this.#code === '') this.#code = await this.#options.nextCode(power).catch(() => '');
      if (power.aborted) return;
      const program = this.#start();
      power.addEventListener('abort', () => program.kill('SIGKILL'), { once: true });
      await once(program, 'exit');
      if (!power.aborted) this.#code = '';
    }
  }

  #start(): ChildProcess {
    const { folder, pace, url } = this.#options;
    const env = { ...process.env, TV_PACE: `${pace}`, TV_STARTED_MS: `${this.#startedMs}` };
    const args = ['--import', fastTime, 'tv.mjs', url, this.#code];
    return spawn(process.execPath, args, { cwd: folder, env, stdio: 'ignore' });
  }
}
