import type { UserConsoleLog } from 'vitest';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

/** Prints the duration and the console output of each test file again at the end of the run. */
export class FiguresReporter implements Reporter {
  #vitest: Vitest | undefined;
  readonly #printed = new Map<string, string[]>();

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onUserConsoleLog({ taskId = '', content }: UserConsoleLog): void {
    const file = this.#vitest?.state.idMap.get(taskId)?.file.filepath ?? '';
    this.#printed.set(file, [...(this.#printed.get(file) ?? []), content]);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules.flatMap((module) => {
      const seconds = (module.diagnostic().duration / 1000).toFixed(0);
      const printed = (this.#printed.get(module.moduleId) ?? [])
        .join('')
        .trimEnd()
        .split('\n')
        .filter(Boolean);
      return [
        `${module.relativeModuleId}: ${module.state()}, ${seconds} s`,
        ...printed.map((line) => `  ${line}`),
      ];
    });
    process.stdout.write(`\n${lines.join('\n')}\n`);
  }
}
