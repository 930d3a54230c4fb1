import { SignageError } from '../../domain/error.ts';
import { errorKinds } from '../../wire/errors.ts';
import { escapeControl, printableJson } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { exitCodeOf } from './exit-code.ts';

/** What to type next, where neither the error nor the command knows better. */
const hints: Readonly<Record<string, string>> = {
  port_taken: 'Choose another port with --port, or --port 0 for any that is free.',
  unreachable:
    '--url says where the service is; signage serve starts one, and signage doctor looks closer.',
  unavailable: 'Try again in a while; signage doctor looks closer.',
  credential_missing: 'Log in with signage login, or set SIGNAGE_TOKEN.',
  credential_invalid:
    'signage whoami says where the token is from; SIGNAGE_TOKEN or --token-file must hold a management token of this service.',
  credential_expired:
    'An admin makes a new one with signage token create; then signage login, or set SIGNAGE_TOKEN. signage doctor says where this one is from.',
  insufficient_role:
    'signage whoami shows role and venues; an admin makes another token: signage token create --role …',
  tenant_required: '--tenant names it; signage tenant list shows them.',
  tenant_not_found: 'signage tenant list shows those there are.',
  token_not_found: 'signage token list shows those there are.',
  venue_not_found: 'signage venue list shows those there are.',
  screen_not_found: 'signage screen list shows those there are.',
  device_not_found: 'signage device list shows those there are.',
  playlist_not_found: 'signage playlist publish gives the screen one.',
  config_not_found: 'signage config set stores one.',
  name_taken: 'Choose another name, or change the one there is: signage … update.',
  screen_already_bound: 'Free the screen first: signage device revoke …',
  screen_active: 'Free the screen first: signage device revoke …, or say --force.',
};

const hintOf = (error: SignageError) =>
  error.hint ?? (Object.hasOwn(hints, error.code) ? hints[error.code] : undefined);

function explain(error: SignageError, io: Io): void {
  io.stderr.write(`signage: ${escapeControl(error.message)}\n`);
  const complaints = error.errors ?? [];
  // A single one is in the message already.
  for (const { path, message } of complaints.length > 1 ? complaints : []) {
    io.stderr.write(`  ${escapeControl(path || 'body')}: ${escapeControl(message)}\n`);
  }
  if (error.truncated) io.stderr.write('  and more, which the service does not list.\n');
  if (error.retryAfterSeconds !== undefined)
    io.stderr.write(`  Worth trying again in ${error.retryAfterSeconds} s.\n`);
  const hint = hintOf(error);
  if (hint !== undefined) io.stderr.write(`  ${escapeControl(hint)}\n`);
}

/** The error as the service tells errors, with the exit code; those that are not from a service have no status. */
function problemDocument(error: SignageError): object {
  const { code, message, status, requestId, errors, truncated, existingId, retryAfterSeconds } =
    error;
  const title = Object.hasOwn(errorKinds, code)
    ? errorKinds[code as keyof typeof errorKinds].title
    : code.replaceAll('_', ' ');
  const more = {
    status,
    detail: message,
    code,
    requestId,
    errors,
    truncated,
    existingId,
    retryAfterSeconds,
  };
  return { type: 'about:blank', title, ...more, exitCode: exitCodeOf(error), hint: hintOf(error) };
}

/** A mistake of ours, or of the machine: with the way it took, for whoever looks into it. */
function explainUnexpected(error: unknown, io: Io): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  io.stderr.write(
    `signage: something unexpected happened.\n${text.split('\n').map(escapeControl).join('\n')}\n`,
  );
}

/** Whether results were asked for as JSON: then errors are too. Read off the words, for the error may be in them. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const values = words.flatMap((word, at) => {
    if (word === '-o' || word === '--output') return [words[at + 1]];
    return [/^(?:-o=?|--output=)(.+)$/s.exec(word)?.[1]];
  });
  return ['json', 'ndjson'].includes(values.findLast((value) => value !== undefined) ?? '');
}

/**
 * Tells of an error on `stderr`: one line and what to do, or under `-o json` and `ndjson` the problem document. Answers the exit code that
 * stands for it.
 */
export function reportError(error: unknown, argv: readonly string[], io: Io): number {
  if (!(error instanceof SignageError)) explainUnexpected(error, io);
  else if (wantsJson(argv)) io.stderr.write(`${printableJson(problemDocument(error), 0)}\n`);
  else explain(error, io);
  return exitCodeOf(error);
}
