import { PassThrough, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { secondMs } from '../../../domain/clock.ts';
import { hasCode, SignageError } from '../../../domain/error.ts';
import { packageVersion } from '../../../package/version.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import type { CommandTree } from '../../program/spec.ts';
import { didYouMean } from '../../records/near-names.ts';
import { operate } from './operate.ts';
import { errorResult, type ServedTool, type ToolAnswer } from './tool-results.ts';

/** Clients give up after a minute. */
const limitMs = 55 * secondMs;

/** Returns the names of `--tools`. Throws `usage` for a name that is no offered tool. */
async function chosenTools(
  given: string | undefined,
  offered: readonly string[],
): Promise<readonly string[]> {
  if (given === undefined) return offered;
  const names = given.split(',').map((name) => name.trim());
  for (const name of names) {
    if (offered.includes(name)) continue;
    const question = await didYouMean(name, offered);
    throw usage(`There is no tool "${name}".`, question || `Choose from ${offered.join(', ')}.`);
  }
  return names;
}

/**
 * Calls a tool, and ends it when a client would no longer wait. Turns what it throws into its
 * result, so that nothing ends the server.
 */
async function answerOf(
  call: CommandContext,
  work: (signal: AbortSignal) => Promise<ToolAnswer>,
  cancelled: AbortSignal,
): Promise<ToolAnswer> {
  const limit = new AbortController();
  const stop = call.clock.after(limitMs, () => limit.abort());
  try {
    return await work(AbortSignal.any([limit.signal, cancelled]));
  } catch (error) {
    if (error instanceof Error && error.name !== 'SignageError') call.note(String(error.stack));
    if (!limit.signal.aborted || !hasCode(error, 'interrupted')) return errorResult(error);
    const message = `${error.message} A call may take ${limitMs / secondMs} s.`;
    const hint = error.hint ?? 'Ask for less, or call doctor.';
    return errorResult(new SignageError('wait_timed_out', message, { hint }));
  } finally {
    stop();
  }
}

/** Resolves when the client has closed a stream, or the command is interrupted. */
function untilClosed(call: CommandContext, input: NodeJS.ReadableStream): Promise<void> {
  const { interrupted, io } = call;
  return new Promise((resolve) => {
    const done = () => resolve();
    if (interrupted.aborted) done();
    interrupted.addEventListener('abort', done);
    io.stdout.gone?.addEventListener('abort', done);
    for (const event of ['end', 'close', 'error']) input.once(event, done);
  });
}

/** Runs `signage mcp`: serves the tools until the client closes its end. */
export async function serveMcp(call: CommandContext, tree: CommandTree): Promise<void> {
  const { toolset } = call.options;
  // The exam is loaded only for those who write a TV app.
  const make = toolset === 'develop' ? (await import('./develop.ts')).develop : operate;
  const { instructions, tools, close } = make(call, tree);
  const names = await chosenTools(call.options.tools, Object.keys(tools));
  const running = new Set<Promise<ToolAnswer>>();
  const register = (server: McpServer, name: string, tool: ServedTool) => {
    const { description, input, output, annotations } = tool;
    server.registerTool(
      name,
      { description, inputSchema: input, outputSchema: output, annotations },
      (args: Record<string, unknown>, context: ServerContext) => {
        const work = (signal: AbortSignal) => tool.call(args, { signal, context, server });
        const answer = answerOf(call, work, context.mcpReq.signal);
        running.add(answer);
        return answer.finally(() => running.delete(answer));
      },
    );
  };
  const makeServer = () => {
    const version = packageVersion() ?? 'unknown';
    const server = new McpServer({ name: 'signage', version }, { instructions });
    for (const [name, tool] of Object.entries(tools))
      if (names.includes(name)) register(server, name, tool);
    return server;
  };
  call.heedHangup();
  const { input } = call.io.terminal();
  const closed = untilClosed(call, input);
  // The library would drop answers under way when its input ends.
  const requests = input.pipe(new PassThrough(), { end: false });
  const output = new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      call.io.stdout.write(chunk);
      done();
    },
  });
  const transport = new StdioServerTransport(requests, output);
  const handle = serveStdio(makeServer, {
    transport,
    onerror: (error) => call.note(error.message),
  });
  await closed;
  // A change must not end without its result. The library sends it in a later turn.
  do {
    await setImmediate();
    await Promise.allSettled(running);
  } while (running.size > 0);
  await setImmediate();
  input.unpipe();
  input.pause();
  await handle.close();
  await close();
}
