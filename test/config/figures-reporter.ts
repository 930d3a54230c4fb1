import type { UserConsoleLog } from 'vitest';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

/** Prints at the end, for each file, how long it took and all that it has said: in hours of output nobody finds it otherwise. */
export class FiguresReporter implements Reporter {
  #vitest: Vitest | undefined;
  readonly #said = new Map<string, string[]>();

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onUserConsoleLog({ taskId = '', content }: UserConsoleLog): void {
    const file = this.#vitest?.state.idMap.get(taskId)?.file.filepath ?? '';
    this.#said.set(file, [...(this.#said.get(file) ?? []), content]);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules.flatMap((module) => {
      const seconds = (module.diagnostic().duration / 1000).toFixed(0);
      const said = (this.#said.get(module.moduleId) ?? [])
        .join('')
        .trimEnd()
        .split('\n')
        .filter(Boolean);
      return [
        `${module.relativeModuleId}: ${module.state()}, ${seconds} s`,
        ...said.map((line) => `  ${line}`),
      ];
    });
    process.stdout.write(`\n${lines.join('\n')}\n`);
  }
}
