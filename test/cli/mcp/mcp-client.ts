// Runs `signage mcp` in a process, with the client of the protocol's own library.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
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
