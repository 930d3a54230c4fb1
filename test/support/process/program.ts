import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A script in a process of its own. It ends when the IPC channel is closed. */
export interface Program {
  /** Sends a message and returns the next message of the script. */
  ask<T>(message: unknown): Promise<T>;
  stop(): Promise<void>;
}

/** Whether `taskset` can bind a process to the second core. */
export const canPin = spawnSync('taskset', ['-c', '1', 'true']).status === 0;

function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => {
      child.off('message', onMessage);
      child.off('exit', onExit);
      done();
    };
    const onMessage = (message: unknown) => settle(() => resolve(message as T));
    const onExit = () => settle(() => reject(new Error('the program ended')));
    child.on('message', onMessage);
    child.on('exit', onExit);
  });
}

/**
 * Starts a script, on one core if `core` is given. `first` is the message that it sends when it is
 * ready.
 */
export async function startProgram<T>(
  script: URL,
  args: readonly string[] = [],
  { core, nodeOptions = [] }: { core?: number; nodeOptions?: readonly string[] } = {},
): Promise<Program & { first: T }> {
  const isPinned = core !== undefined && canPin;
  const command = [
    ...(isPinned ? ['taskset', '-c', String(core)] : []),
    process.execPath,
    ...nodeOptions,
    fileURLToPath(script),
    ...args,
  ];
  const child = spawn(command[0] as string, command.slice(1), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return {
    first: await nextMessage<T>(child),
    ask(message) {
      child.send(message as object);
      return nextMessage(child);
    },
    async stop() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
