import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TvPower } from '../../../src/exam/parts/options.ts';

const page = new URL('../../../docs/tv.md', import.meta.url);
const fastTime = fileURLToPath(new URL('fast-time.js', import.meta.url));

/** Returns the program of docs/tv.md as it stands there. */
function programOfPage(): string {
  const [, program] = /^```js\n(\/\/ tv\.mjs.*?)^```$/ms.exec(readFileSync(page, 'utf8')) ?? [];
  if (program === undefined) throw new Error('docs/tv.md has no program tv.mjs.');
  return program;
}

/**
 * The TV of docs/tv.md in a process of its own. It shares no code with the player. When it ends, a
 * person starts it again with the next code.
 */
export class PageTv implements TvPower {
  readonly #folder: string;
  readonly #pace: number;
  readonly #startedMs = Date.now();
  readonly #codes: string[] = [];
  #url = '';
  /** Given to the program again after a power cut. */
  #code: string | undefined;
  #program: ChildProcess | undefined;
  #hasPower = true;
  #life: Promise<void> | undefined;

  constructor(folder: string, pace: number) {
    this.#folder = folder;
    this.#pace = pace;
    writeFileSync(join(folder, 'tv.mjs'), programOfPage());
  }

  onCode(code: string, url: string): void {
    this.#url = url;
    this.#codes.push(code);
    this.#life ??= this.#live();
  }

  async on(): Promise<void> {
    this.#hasPower = true;
    this.#life ??= this.#live();
  }

  /** Kills the program, as a power cut does. */
  async off(): Promise<boolean> {
    this.#hasPower = false;
    this.#program?.kill('SIGKILL');
    await this.#life;
    return true;
  }

  async #live(): Promise<void> {
    for (;;) {
      this.#code ??= this.#codes.shift();
      if (this.#code === undefined || !this.#hasPower) break;
      this.#program = this.#start(this.#code);
      await once(this.#program, 'exit');
      if (this.#hasPower) this.#code = undefined;
    }
    this.#life = undefined;
  }

  #start(code: string): ChildProcess {
    const env = { ...process.env, TV_PACE: `${this.#pace}`, TV_STARTED_MS: `${this.#startedMs}` };
    const args = ['--import', fastTime, 'tv.mjs', this.#url, code];
    return spawn(process.execPath, args, { cwd: this.#folder, env, stdio: 'ignore' });
  }
}
