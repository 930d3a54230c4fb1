import { Memory } from 'lowdb';
import { z } from 'zod';
import { interrupted, pause } from '../../../client/pause.ts';
import { secondMs } from '../../../domain/clock.ts';
import type { SignageError } from '../../../domain/error.ts';
import type { NoticeView } from '../../../domain/notices/notice.ts';
import { nextAttemptAt } from '../../../domain/webhooks/retry.ts';
import { makeWebhookSecret } from '../../../domain/webhooks/signature.ts';
import { matchesType, typePatterns } from '../../../domain/webhooks/webhook.ts';
import { stateFile } from '../../connection/state-file.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { exitCodeOf } from '../../program/exit-code.ts';
import { followList } from '../../records/follow.ts';
import { span } from '../../terminal/text.ts';
import { type NoticeTarget, type Passed, programTarget, urlTarget } from './notice-target.ts';

interface ListenOptions {
  /** Types, or groups of types such as `screen.*`. Empty: all. */
  types: readonly string[];
  forwardTo: URL | undefined;
  exec: string | undefined;
  state: string | undefined;
}

const stateSchema = z.strictObject({
  format: z.literal(1),
  secret: z.string(),
  /** Id of the last notice that was passed on. `null`: none. */
  after: z.string().nullable(),
});
type State = z.infer<typeof stateSchema>;

const retryMs = 5 * secondMs;
const unreachableExitCode = 7;
/** A log without notices begins here. */
const beginning = '1970-01-01T00:00:00.000Z';

const stateOf = (path: string) =>
  stateFile<State>(path, {
    parse: (content) => stateSchema.parse(content),
    use: { what: '--state', code: 'invalid_file' },
    remedy: 'Delete it to start at the present, with a new secret.',
  });

/** Yields notices as they come, also after the service was away. */
async function* followNotices(call: CommandContext, start: string | null) {
  const signal = call.interrupted;
  let after = start ?? undefined;
  let isAway = false;
  for (;;) {
    try {
      const filters = after === undefined ? { from: beginning } : {};
      for await (const notices of followList(call, 'listNotices', { filters, after, signal })) {
        if (isAway) call.note('The service answers again.');
        isAway = false;
        for (const notice of notices) {
          yield notice;
          after = notice.id;
        }
      }
    } catch (error) {
      if (exitCodeOf(error) !== unreachableExitCode) throw error;
      if (!isAway) call.note(`${(error as SignageError).message} Trying again.`);
      isAway = true;
      await pause(call.clock, retryMs, signal);
      if (signal.aborted) throw interrupted(signal);
    }
  }
}

const titleOf = ({ type, data }: NoticeView) =>
  [type, [data.venue, data.screen].filter((name) => name != null).join('/')].join(' ').trim();

/**
 * A notice that cannot be given to the program must not stop the next ones. Node throws for
 * arguments that no process can have, and for those that are too long.
 */
function notHandedOver({ code = '', message }: NodeJS.ErrnoException): Passed {
  const isFinal = code === 'E2BIG' || code.startsWith('ERR_');
  const text = `could not be handed over (${message})`;
  return { outcome: isFinal ? 'refused' : 'retry', text };
}

/** Passes a notice on, and tries again as webhooks do (docs/protocol.md §5.17). */
async function passOn(
  { clock, random, note, interrupted: signal }: CommandContext,
  target: NoticeTarget,
  notice: NoticeView,
): Promise<void> {
  for (let attempts = 1; ; attempts++) {
    const { outcome, text, retryAfter } = await target(notice).catch(notHandedOver);
    if (signal.aborted) throw interrupted(signal);
    const title = `${titleOf(notice)}: ${text}`;
    const nowMs = clock.now();
    const nextMs =
      outcome === 'retry' ? nextAttemptAt(attempts, retryAfter, nowMs, random) : undefined;
    if (outcome === 'delivered') return note(`${title}.`);
    if (nextMs === undefined) return note(`${title}. It is given up.`);
    note(`${title}. Trying again in ${span(nextMs - nowMs)}.`);
    await pause(clock, nextMs - nowMs, signal);
    if (signal.aborted) throw interrupted(signal);
  }
}

/** Runs `signage listen` until it is interrupted, or the service refuses the token. */
export async function listen(
  call: CommandContext,
  { types, forwardTo, exec, state }: ListenOptions,
): Promise<void> {
  const unknown = types.find((type) => !typePatterns.includes(type));
  if (unknown !== undefined)
    throw usage(`There is no type "${unknown}". Types: ${typePatterns.join(', ')}.`);
  const file = state === undefined ? new Memory<State>() : stateOf(state);
  const saved = await file.read();
  const [newest] = (await call.read('listNotices', { query: { limit: 1 } })).items;
  const secret = saved?.secret ?? makeWebhookSecret(call.random);
  let after = saved ? saved.after : (newest?.id ?? null);
  const save = () => file.write({ format: 1, secret, after });
  await save();
  const target = forwardTo
    ? urlTarget(call, forwardTo, secret)
    : programTarget(call, exec as string);
  const what = types.length === 0 ? 'all notices' : types.join(', ');
  call.note(`Listening to ${what}. Ctrl-C ends it.`);
  if (forwardTo) call.note(`The secret that verifies the messages: ${secret}`);
  for await (const notice of followNotices(call, after)) {
    if (matchesType(notice.type, types.length > 0 ? types : null))
      await passOn(call, target, notice);
    after = notice.id;
    await save();
  }
}
