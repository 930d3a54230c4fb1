import { z } from 'zod';
import { secondMs } from '../../../domain/clock.ts';
import { partIds } from '../../../exam/parts/part-ids.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import type { CommandTree } from '../../program/spec.ts';
import { screenPaths } from '../../records/names.ts';
import { servedReading } from './operate.ts';
import { type ReadingTool, readingTools, screen } from './reading-tools.ts';
import { resultOf, type ServedTool, type Toolset } from './tool-results.ts';
import { Workbench } from './workbench.ts';

const output = z.looseObject({}).describe('see the text');
const speed = z
  .number()
  .min(1)
  .max(600)
  .optional()
  .describe('times faster than real time; the same for an exam and its TV; default: 1');

const logs: ReadingTool = {
  description:
    'What TVs asked the local service, newest first, and how it answered: status, error code, fault rules.',
  input: z.strictObject({
    screen: screen.optional(),
    refused: z.boolean().optional().describe('only requests that got an error, or no answer'),
  }),
  command: ({ screen, refused }) => ({
    words: ['logs'],
    given: [screen],
    flags: refused ? { refused } : {},
  }),
  fields: ['at', 'screen', 'operation', 'status', 'code', 'detail', 'faults'],
};

const instructions = `Helps to write a TV app: a local service that misbehaves on purpose, simulated TVs, and an exam for the app. A TV registers at POST /devices/register with its pairing code; docs/tv.md and docs/protocol.md, and GET /docs of the service, say more. Call start_service, let the app run against its url with the code, and read logs. Then start_exam, give the app the new url and code, and ask state for the failed rows.`;

/** Makes the tools for somebody who writes a TV app. They never use the service of the command. */
export function develop(call: CommandContext, tree: CommandTree): Toolset {
  const { allowChanges, allowUnattended, venue, root } = call.options;
  if (allowChanges || allowUnattended || (venue ?? root) !== undefined)
    throw usage('--toolset develop works with no other service, so only --tools goes with it.');
  const workbench = new Workbench(call, tree);
  const annotations = {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: false,
  };
  const tool = (
    description: string,
    input: z.ZodObject,
    // biome-ignore lint/suspicious/noExplicitAny: the arguments as `input` has checked them
    work: (args: any, signal: AbortSignal) => Promise<object>,
  ): ServedTool => ({
    ...{ description, input, output, annotations },
    call: async (args, { signal }) => resultOf(await work(args, signal)),
  });
  const tools: Record<string, ServedTool> = {
    start_service: tool(
      'Start a local service with demo screens and playlists, in memory. If it runs, replace its faults. Answers its URL, its screens, and a pairing code for one of them, valid for an hour.',
      z.strictObject({
        faults: z
          .array(z.string())
          .optional()
          .describe(
            'rules such as "500:playlist:10%", "lost-answer:events:every 2", "cut-answer:2%", "slow:200ms-5s", "401:config device_key_revoked"; [] ends them',
          ),
        screen: screen.optional().describe('for the code; default: the first without a TV'),
        port: z.number().int().min(0).max(65_535).optional().describe('default: any free one'),
      }),
      async (args, signal) => {
        await workbench.startService(args);
        const { code, screenId } = await workbench.code(args.screen, signal);
        const { service } = workbench.shown();
        const names = await workbench.runner.within((one) => screenPaths(one), {}, { signal });
        const screens = [...names.values()].sort();
        return { ...service, code, screen: names.get(screenId), screens };
      },
    ),
    start_tv: tool(
      'Run a simulated TV that follows the protocol, to compare with: on a screen of the local service, or in the exam.',
      z.strictObject({
        screen: screen.optional().describe('default: the first without a TV'),
        exam: z.boolean().optional().describe('in the exam instead'),
        speed,
      }),
      async (args, signal) => ({ id: await workbench.startTv(args, signal) }),
    ),
    start_exam: tool(
      'Start the exam of a TV app: a service of its own loses answers, refuses requests and cuts connections, and the app is judged by its requests. Answers the url and the code for the app. The quick exam takes about 7 minutes: ask state.',
      z.strictObject({
        full: z.boolean().optional().describe('the exam of 17 minutes'),
        parts: z.array(z.enum(partIds)).optional().describe('default: all'),
        speed,
      }),
      (args) => workbench.startExam(args),
    ),
    state: tool(
      'The local service, the TVs with the ends of their logs, and the exam: its steps, its current code, and at its end each failed row with what was expected, what was seen, and advice.',
      z.strictObject({
        waitSeconds: z.number().int().min(1).max(50).optional().describe('wait for its end'),
      }),
      async ({ waitSeconds }, signal) => {
        if (waitSeconds !== undefined) await workbench.wait(waitSeconds * secondMs, signal);
        return workbench.shown();
      },
    ),
    stop: tool(
      'Stop what was started. A stopped exam shows the rows that were judged.',
      z.strictObject({ what: z.enum(['service', 'tvs', 'exam', 'all']) }),
      async ({ what }) => {
        await workbench.stop(what);
        return workbench.shown();
      },
    ),
    logs: servedReading(workbench.runner, logs),
  };
  const { status, explain, playlist, events } = readingTools;
  for (const [name, one] of Object.entries({ status, explain, playlist, events }))
    if (one) tools[name] = servedReading(workbench.runner, one);
  return { instructions, tools, close: () => workbench.stop('all') };
}
