// Runs `signage mcp` in a process, with the client of the protocol's library, or on plain pipes.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { checkout } from '../../support/process/signage-process.ts';
import { afterEachFile } from '../../support/runtime/clean-up.ts';

const open = new Set<Client>();
afterEachFile(async () => {
  for (const client of open) await client.close();
  open.clear();
});

export interface ToolAnswer {
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every tool
  json: any;
  isError: boolean;
}

interface McpOptions {
  args?: readonly string[];
  env?: Record<string, string>;
  cwd?: string;
  /** Answers questions. Default: the client cannot be asked. */
  answer?: (message: string) => 'accept' | 'decline' | 'cancel';
  /** Versions of the protocol that the client speaks. */
  versions?: string[];
  /** The version of 2026 or later to speak. Default: one of 2025 or before. */
  pin?: string;
}

/** Starts `signage mcp` for a service. */
export async function startMcp(
  service: { url: string },
  token: string,
  { args = [], env = {}, cwd, answer, versions, pin }: McpOptions = {},
) {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: answer ? { elicitation: { form: {} } } : {},
      ...(versions && { supportedProtocolVersions: versions }),
      ...(pin !== undefined && { versionNegotiation: { mode: { pin } } }),
    },
  );
  const asked: string[] = [];
  if (answer)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message);
      const action = answer(params.message);
      return action === 'accept' ? { action, content: {} } : { action };
    });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [`${checkout}/bin/signage.js`, 'mcp', ...args],
    cwd: cwd ?? (await temporaryFolder()),
    stderr: 'pipe',
    env: {
      PATH: process.env.PATH ?? '',
      XDG_CONFIG_HOME: await temporaryFolder(),
      SIGNAGE_URL: service.url,
      SIGNAGE_TOKEN: token,
      SIGNAGE_RETRY: '0',
      ...env,
    },
  });
  let log = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    log += chunk;
  });
  await client.connect(transport);
  open.add(client);
  return {
    client,
    /** The questions that the server asked. */
    asked,
    log: () => log,
    async call(name: string, given: Record<string, unknown> = {}): Promise<ToolAnswer> {
      const result = await client.callTool({ name, arguments: given });
      const [{ text } = { text: '' }] = result.content as { text: string }[];
      const isError = result.isError === true;
      const parse = () => (isError && text.startsWith('{') ? JSON.parse(text) : undefined);
      return { text, isError, json: result.structuredContent ?? parse() };
    },
    async close() {
      open.delete(client);
      await client.close();
    },
  };
}

const children = new Set<ChildProcess>();
afterEachFile(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});

/**
 * Starts `signage mcp` on plain pipes, so that a test sees each byte, and says hello. The process
 * is killed after the tests of the file.
 */
export async function startRawMcp(
  service: { url: string },
  token: string,
  { args = [], env = {} }: Pick<McpOptions, 'args' | 'env'> = {},
) {
  const child = spawn(process.execPath, [`${checkout}/bin/signage.js`, 'mcp', ...args], {
    cwd: await temporaryFolder(),
    env: {
      PATH: process.env.PATH,
      XDG_CONFIG_HOME: await temporaryFolder(),
      SIGNAGE_URL: service.url,
      SIGNAGE_TOKEN: token,
      SIGNAGE_RETRY: '0',
      ...env,
    },
  });
  children.add(child);
  const written = { out: '', err: '' };
  const waiting = new Map<number, (message: { result?: unknown }) => void>();
  child.stdin.on('error', () => {});
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    written.err += text;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    written.out += `${line}\n`;
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  let id = 0;
  const send = (message: object) =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  // biome-ignore lint/suspicious/noExplicitAny: results of every shape
  const request = (method: string, params: object): Promise<any> => {
    const own = ++id;
    const answered = new Promise<{ result?: unknown }>((resolve) => waiting.set(own, resolve));
    send({ id: own, method, params });
    return Promise.race([answered, ended.then(() => undefined)]).then((message) => message?.result);
  };
  await request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  });
  send({ method: 'notifications/initialized' });
  return {
    child,
    ended,
    written,
    /** Returns the result. `undefined`: the process ended without one. */
    async call(name: string, given: object = {}): Promise<ToolAnswer | undefined> {
      const result = await request('tools/call', { name, arguments: given });
      if (result === undefined) return undefined;
      const [{ text }] = result.content;
      const isError = result.isError === true;
      return { text, isError, json: result.structuredContent ?? JSON.parse(text) };
    },
    /** Throws unless each line of stdout is a message of the protocol. */
    checkOutput() {
      for (const line of written.out.split('\n').filter(Boolean))
        expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
      expect(written.err).not.toMatch(/^\s+at /m);
    },
  };
}
