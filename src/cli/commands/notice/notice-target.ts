import { spawn } from 'node:child_process';
import type { NoticeView } from '../../../domain/notices/notice.ts';
import { verdictOf } from '../../../domain/webhooks/retry.ts';
import { signMessage, webhookMessage } from '../../../domain/webhooks/signature.ts';
import { makeWebhookSender } from '../../../network/webhook-sender.ts';
import type { CommandContext } from '../../program/context.ts';
import { escapeControl } from '../../terminal/escape.ts';
import type { Output } from '../../terminal/io.ts';

/** The end of one attempt to pass a notice on. */
export interface Passed {
  outcome: 'delivered' | 'retry' | 'refused';
  /** What to show of it, such as `204` or `exit code 1`. */
  text: string;
  retryAfter?: string | undefined;
}

/** Where `signage listen` passes notices on to. */
export type NoticeTarget = (notice: NoticeView) => Promise<Passed>;

const programLimitMs = 60_000;

/** Sends notices to a URL, as a webhook does. Any address may be called: it is the user's own. */
export function urlTarget(call: CommandContext, url: URL, secret: string): NoticeTarget {
  const addresses = { checkUrl() {}, checkAddress() {} };
  const sender = makeWebhookSender({ addresses, clock: call.clock });
  return async (notice) => {
    const signed = signMessage(notice.id, webhookMessage(notice), [secret], call.clock.now());
    const sent = await sender.send(url, { ...signed, signal: call.interrupted });
    const verdict = verdictOf(sent.status);
    return {
      outcome: verdict === 'gone' ? 'refused' : verdict,
      text: sent.error ?? String(sent.status),
      retryAfter: sent.retryAfter,
    };
  };
}

/** The names in a notice are far shorter. Linux takes at most 128 KiB for one variable. */
const maxVariableLength = 4096;

/** Makes a value of a variable, which cannot have a NUL. Other control characters could mislead. */
const variable = (value: unknown) =>
  escapeControl(typeof value === 'string' ? value.slice(0, maxVariableLength) : '');

/** The environment of a program: that of this command, and the notice. */
function environmentOf({ id, at, type, data }: NoticeView): Record<string, string> {
  return {
    SIGNAGE_NOTICE_ID: variable(id),
    SIGNAGE_NOTICE_AT: variable(at),
    SIGNAGE_NOTICE_TYPE: variable(type),
    SIGNAGE_NOTICE_VENUE: variable(data.venue),
    SIGNAGE_NOTICE_SCREEN: variable(data.screen),
    SIGNAGE_NOTICE_REASON: variable(data.reason),
  };
}

/** Passes the output of a program on. Its bytes stay as they are, except at a terminal. */
const pass = (bytes: Buffer, output: Output) =>
  output.write(output.isTTY ? bytes.toString() : bytes);

/**
 * Runs a program for each notice, which is JSON on its stdin. A value with a blank is a line for
 * the shell. The names of screens never become part of that line.
 */
export function programTarget({ io, interrupted }: CommandContext, program: string): NoticeTarget {
  return (notice) =>
    new Promise((resolve) => {
      const child = spawn(program, {
        shell: /\s/.test(program),
        env: { ...io.env, ...environmentOf(notice) },
        stdio: 'pipe',
        signal: AbortSignal.any([interrupted, AbortSignal.timeout(programLimitMs)]),
      });
      const retry = (text: string) => resolve({ outcome: 'retry', text });
      child.on('error', (error: NodeJS.ErrnoException) => {
        if (error.name === 'AbortError') retry(`stopped after ${programLimitMs / 1000} s`);
        else retry(error.code === 'ENOENT' ? `there is no program ${program}` : error.message);
      });
      child.on('close', (code, signal) => {
        if (code === 0) resolve({ outcome: 'delivered', text: 'exit code 0' });
        else retry(code === null ? `ended by ${signal}` : `exit code ${code}`);
      });
      child.stdout.on('data', (bytes: Buffer) => pass(bytes, io.stdout));
      child.stderr.on('data', (bytes: Buffer) => pass(bytes, io.stderr));
      // A program may end without reading.
      child.stdin.on('error', () => {});
      child.stdin.end(`${JSON.stringify(notice)}\n`);
    });
}
