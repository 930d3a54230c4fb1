import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { minuteMs, secondMs } from '../../../domain/clock.ts';
import { hasCode, SignageError } from '../../../domain/error.ts';
import type { UpcomingChange } from '../../connection/client.ts';
import { waitForGlass } from '../../glass/glass-wait.ts';
import type { Flags } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { escapeControl } from '../../terminal/escape.ts';
import { type ChangingTool, withPlace } from './changing-tools.ts';
import { bodyOf, type ChangePlan, makeGuard, planChange, requireSame } from './plan-change.ts';
import type { CommandCall, CommandRunner, RunOptions } from './run-commands.ts';
import { lineOf, planShown } from './shown-plan.ts';
import {
  maxRecords,
  resultOf,
  type ServedCall,
  type ToolAnswer,
  type ToolResult,
} from './tool-results.ts';
import { undoOf } from './undo.ts';

/** The structured result of tools that change something. */
export const changeOutput = z.looseObject({
  state: z.enum(['planned', 'done', 'partly_done']),
  confirm: z.string().optional().describe('send it to make the planned change'),
});

const planLifeMs = 5 * minuteMs;
const maxPlans = 100;
const defaultWaitSeconds = 20;
/** A change of more screens is always asked about. */
const maxUnasked = 5;

interface KeptPlan {
  tool: string;
  args: Record<string, unknown>;
  plan: ChangePlan;
  /** Ends as the plan showed them, in place of time spans. */
  ends: Flags;
  expiresMs: number;
}

interface ChangerOptions {
  root: string;
  allowUnattended: boolean;
}

/** Returns the ends of the planned requests as options, so that a confirmed span does not move. */
function endsOf({ flags = {} }: CommandCall, { requests }: ChangePlan): Flags {
  const bodies = requests.map(bodyOf);
  const until = bodies.find((body) => body.until !== undefined)?.until;
  const validUntil = bodies.find((body) => typeof body.validUntil === 'number')?.validUntil;
  return {
    ...(flags.until !== undefined && until !== undefined && { until: String(until) }),
    ...(validUntil !== undefined && { validUntil: String(validUntil) }),
  };
}

/** Adds to an error of a change that the change may have been made. */
function uncertain(error: unknown): unknown {
  const codes: readonly string[] = ['unreachable', 'unexpected_answer', 'interrupted'];
  if (!(error instanceof SignageError) || !codes.includes(error.code)) return error;
  const message = `${error.message} The change may have been made, wholly or in part.`;
  const hint = 'Call the tool again without confirm: the plan shows what is there now.';
  return new SignageError(error.code, message, { ...error, hint });
}

/** Whether the client can ask its user. */
function canAsk({ context, server: { server } }: ServedCall): boolean {
  // Clients of 2026 and later send their capabilities with each request.
  const envelope: Readonly<Record<string, unknown>> = context.mcpReq.envelope ?? {};
  const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  return (capabilities as { elicitation?: object } | undefined)?.elicitation !== undefined;
}

/** Makes changes: first a plan, then the change when it is confirmed and the user agrees. */
export class Changer {
  readonly #runner: CommandRunner;
  readonly #call: CommandContext;
  readonly #options: ChangerOptions;
  readonly #plans = new Map<string, KeptPlan>();

  constructor(runner: CommandRunner, call: CommandContext, options: ChangerOptions) {
    this.#runner = runner;
    this.#call = call;
    this.#options = options;
  }

  /** Calls a tool that changes something. */
  async change(
    name: string,
    tool: ChangingTool,
    { confirm, waitFor, waitSeconds = defaultWaitSeconds, ...args }: Record<string, unknown>,
    served: ServedCall,
  ): Promise<ToolAnswer> {
    const { signal } = served;
    return withPlace(this.#options.root, async (place) => {
      const command = await tool.command(args, place);
      if (confirm === undefined) return this.#propose(name, args, command, { signal });
      const kept = this.#planOf(String(confirm), name, args);
      const fixed = { ...command, flags: { ...command.flags, ...kept.ends } };
      const { plan } = await this.#prepare(fixed, { signal });
      requireSame(kept.plan, plan);
      const question = this.#question(tool, kept.plan, fixed, { served, ...place });
      if (question) return question;
      this.#plans.delete(String(confirm));
      const waitMs = waitFor === undefined ? undefined : Number(waitSeconds) * secondMs;
      const made = await this.#make(fixed, kept.plan, { signal, waitMs });
      const undo = undoOf(name, args, kept.plan, made.value);
      const result = resultOf({ ...made.shown, undo });
      return made.shown.state === 'done' ? result : { ...result, isError: true };
    });
  }

  #planOf(token: string, tool: string, args: Record<string, unknown>): KeptPlan {
    const hint = 'Call the tool again without confirm, for a new plan.';
    const kept = this.#plans.get(token);
    if (!kept || kept.expiresMs < this.#call.clock.now())
      throw new SignageError(
        'precondition_failed',
        'Nothing was changed. There is no plan with this token: it was used, or more than 5 minutes have passed.',
        { hint },
      );
    if (kept.tool !== tool || !isDeepStrictEqual(kept.args, args))
      throw new SignageError(
        'precondition_failed',
        'Nothing was changed. The plan is of another tool, or of other arguments.',
        { hint },
      );
    return kept;
  }

  /** Runs the command with `--dry-run`, and reads what its requests would replace. */
  async #prepare(command: CommandCall, options: RunOptions) {
    const requests: UpcomingChange[] = [];
    const { notes } = await this.#runner.run(
      { ...command, flags: { ...command.flags, dryRun: true } },
      {
        ...options,
        async beforeChange(change) {
          requests.push(change);
          return {};
        },
      },
    );
    const plan = await this.#runner.within((call) => planChange(call, requests), {}, options);
    return { plan, notes };
  }

  async #propose(
    tool: string,
    args: Record<string, unknown>,
    command: CommandCall,
    options: RunOptions,
  ): Promise<ToolResult> {
    const { plan, notes } = await this.#prepare(command, options);
    const ends = endsOf(command, plan);
    const token = randomBytes(12).toString('hex');
    const expiresMs = this.#call.clock.now() + planLifeMs;
    this.#plans.set(token, { tool, args, plan, ends, expiresMs });
    const [oldest] = this.#plans.keys();
    if (this.#plans.size > maxPlans && oldest !== undefined) this.#plans.delete(oldest);
    const week = await this.#drawnWeek(command, options);
    const shown = {
      state: 'planned',
      plan: { ...planShown(plan), notes },
      ...(week !== undefined && { week }),
      confirm: token,
      expiresAt: new Date(expiresMs).toISOString(),
      next: 'Nothing was changed. Show this plan to the user; if the user agrees, call the tool again with the same arguments and confirm.',
    };
    return resultOf(shown);
  }

  /** Checks and draws a schedule that is to be set. */
  async #drawnWeek(command: CommandCall, options: RunOptions): Promise<string[] | undefined> {
    const { words, given = [], flags = {}, stdin } = command;
    if (words[0] !== 'schedule' || stdin === undefined) return undefined;
    const [names] = given as [readonly string[]];
    const venue = Array.isArray(flags.venue) ? flags.venue[0] : undefined;
    const of = names[0] === undefined && venue === undefined ? { timezone: 'UTC' } : { venue };
    const common = { file: '-', allowOutside: true, output: 'table', ...of };
    const parts: string[] = [];
    for (const verb of ['check', 'preview']) {
      const draw = { words: ['schedule', verb] as const, given: [names[0]], flags: common, stdin };
      const { text, notes } = await this.#runner.run(draw, options);
      parts.push(text, ...notes);
    }
    return parts.join('\n').split('\n').filter(Boolean);
  }

  /** Returns the question to the user, or `undefined` if the change may be made. */
  #question(
    { alwaysAsks = false }: ChangingTool,
    plan: ChangePlan,
    command: CommandCall,
    { served, folder }: { served: ServedCall; folder: string },
  ): InputRequiredResult | undefined {
    const { mcpReq } = served.context;
    const isAsked =
      alwaysAsks || plan.screens.length > maxUnasked || !this.#options.allowUnattended;
    if (!isAsked) return undefined;
    const reply = inputResponse(mcpReq.inputResponses, 'consent');
    if (reply.kind === 'elicit' && reply.action === 'accept') return undefined;
    const line = lineOf(command, folder);
    const isDeclined = reply.kind === 'elicit';
    if (isDeclined || !canAsk(served))
      throw new SignageError(
        'declined',
        isDeclined
          ? 'Nothing was changed. The user declined, or the client declined without showing the question.'
          : 'Nothing was changed. The client cannot ask its user, and this change needs the consent of a person.',
        { hint: `The user can make the change in a terminal: ${line}` },
      );
    const { screens, after, replaces, ends } = planShown(plan);
    const message = [
      `Make this change? ${line}`,
      `Screens (${screens.length}): ${screens.map(({ screen }) => screen).join(', ')}`,
      `Now: ${replaces.map(({ of, now }) => `${of}: ${now}`).join('; ')}`,
      `Then: ${after.join(', ') || 'nothing'}`,
      ...(ends === null ? [] : [`Ends: ${ends}`]),
    ]
      .map(escapeControl)
      .join('\n');
    const requestedSchema = { type: 'object' as const, properties: {} };
    const consent = inputRequired.elicit({ message, requestedSchema });
    return inputRequired({ inputRequests: { consent } });
  }

  /** Makes the change. */
  async #make(
    command: CommandCall,
    plan: ChangePlan,
    { signal, waitMs }: { signal: AbortSignal; waitMs: number | undefined },
  ) {
    const flags = { ...command.flags, yes: true };
    const { exitCode, value, notes } = await this.#runner
      .run({ ...command, flags }, { signal, beforeChange: makeGuard(plan) })
      .catch((error: unknown) => {
        throw uncertain(error);
      });
    // What was done must be answered, whatever happens to the wait.
    const waitFailed = (error: unknown) => {
      if (!(error instanceof SignageError)) throw error;
      return { reached: false, problem: error.message };
    };
    const glass =
      waitMs === undefined ? undefined : await this.#glass(plan, waitMs, signal).catch(waitFailed);
    const state = exitCode === 0 ? 'done' : 'partly_done';
    const results = [value ?? []].flat().slice(0, maxRecords);
    return { value, shown: { state, results, notes, ...(glass && { glass }) } };
  }

  /** Waits for the TVs, and returns what they show. */
  async #glass(plan: ChangePlan, waitMs: number, signal: AbortSignal) {
    const { screens } = plan;
    const work = async (call: CommandContext) => {
      let problem: string | null = null;
      try {
        await waitForGlass(call, screens, 'what was changed');
      } catch (error) {
        if (!hasCode(error, 'wait_timed_out') && !hasCode(error, 'partly_failed')) throw error;
        problem = (error as SignageError).message;
      }
      const ids = new Set(screens.map(({ id }) => id));
      const all = (await call.all('listScreenStatus')).filter(({ screen }) => ids.has(screen.id));
      const shown = all.slice(0, maxRecords).map(({ screen, condition, playing, layer }) => ({
        screen: screens.find(({ id }) => id === screen.id)?.name,
        ...{ condition, playing: playing?.name ?? null, layer: layer?.name, state: layer?.state },
      }));
      return { reached: problem === null, problem, screens: shown };
    };
    return this.#runner.within(work, { wait: waitMs }, { signal });
  }
}
