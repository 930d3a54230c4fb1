import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A program of this folder in a process of its own. */
export interface Program {
  /** Sends it a message, and answers its next one. */
  ask<T>(message: unknown): Promise<T>;
  stop(): Promise<void>;
}

/** Where the system can keep a process on one core, and has two. */
export const canPin = spawnSync('taskset', ['-c', '1', 'true']).status === 0;

function answerOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => {
      child.off('message', answered);
      child.off('exit', ended);
      done();
    };
    const answered = (answer: unknown) => settle(() => resolve(answer as T));
    const ended = () => settle(() => reject(new Error('the program ended')));
    child.on('message', answered);
    child.on('exit', ended);
  });
}

/**
 * Starts one on a core of its own, if it can be, with these options of Node's; answers what it says
 * first, too.
 */
export async function startProgram<T>(
  name: string,
  core: number,
  args: readonly string[] = [],
  nodeOptions: readonly string[] = [],
): Promise<Program & { first: T }> {
  const path = fileURLToPath(new URL(name, import.meta.url));
  const command = [
    ...(canPin ? ['taskset', '-c', String(core)] : []),
    process.execPath,
    ...nodeOptions,
    path,
    ...args,
  ];
  const child = spawn(command[0] as string, command.slice(1), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return {
    first: await answerOf<T>(child),
    ask(message) {
      child.send(message as object);
      return answerOf(child);
    },
    async stop() {
      const gone = once(child, 'exit');
      child.send('stop');
      await gone;
    },
  };
}
