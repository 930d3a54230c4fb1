import { SignageError } from '../../domain/error.ts';
import { errorKinds } from '../../wire/errors.ts';
import { escapeControl, printableJson } from '../terminal/escape.ts';
import { isJson } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { diskProblem } from '../terminal/not-written.ts';
import { writeMessage } from '../terminal/wrap.ts';
import { exitCodeOf } from './exit-code.ts';

/** Default hints by error code. An error or a command may have its own hint. */
const hints: Readonly<Record<string, string>> = {
  unreachable: 'Check --url. signage serve starts a service, and signage doctor finds the cause.',
  store_damaged:
    'signage data check lists the damage. Restore a backup, or save the readable data with signage data repair.',
  unavailable: 'Try again later; signage doctor finds the cause.',
  credential_missing: 'Log in with signage login, or set SIGNAGE_TOKEN.',
  credential_invalid:
    'signage whoami shows where the token comes from; SIGNAGE_TOKEN or --token-file must contain a management token of this service.',
  credential_expired:
    'An admin creates a new token with signage token create; then signage login, or set SIGNAGE_TOKEN. signage doctor shows the source of the expired token.',
  insufficient_role:
    'signage whoami shows role and venues; an admin creates another token: signage token create --role …',
  not_found: 'Check --url: it must be the address of the service alone.',
  tenant_required: 'Choose one with --tenant; signage tenant list shows all tenants.',
  tenant_not_found: 'signage tenant list shows all tenants.',
  token_not_found: 'signage token list shows all tokens.',
  venue_not_found: 'signage venue list shows all venues.',
  screen_not_found: 'signage screen list shows all screens.',
  device_not_found: 'signage device list shows all devices.',
  playlist_not_found: 'signage playlist publish gives the screen one.',
  config_not_found: 'signage config set stores one.',
  name_taken: 'Choose another name.',
  screen_already_bound:
    'Free the screen first: signage device revoke …, or signage pair … --replace',
  screen_active: 'Free the screen first: signage device revoke …, or use --force.',
};

const hintOf = (error: SignageError) =>
  error.hint ?? (Object.hasOwn(hints, error.code) ? hints[error.code] : undefined);

/**
 * Returns the message. If the message only repeats the first of several mistakes, returns their
 * number.
 */
function headline({ message, errors = [], truncated }: SignageError): string {
  const [first] = errors;
  const firstText = first && (first.path ? `${first.path}: ${first.message}` : first.message);
  if (errors.length < 2 || firstText === undefined || !message.startsWith(firstText))
    return message;
  return `There are ${truncated ? 'more than ' : ''}${errors.length} mistakes:`;
}

function explain(error: SignageError, { stderr }: Io): void {
  const indent = '  ';
  writeMessage(stderr, headline(error), 'signage: ');
  const fieldErrors = error.errors ?? [];
  // If there is only one field error, the message already contains it.
  for (const { path, message } of fieldErrors.length > 1 ? fieldErrors : [])
    writeMessage(stderr, `${path || 'body'}: ${message}`, indent, 2 * indent.length);
  if (error.truncated) writeMessage(stderr, 'and more, which the service does not list.', indent);
  if (error.retryAfterSeconds !== undefined)
    writeMessage(stderr, `Try again in ${error.retryAfterSeconds} s.`, indent);
  const hint = hintOf(error);
  if (hint !== undefined) writeMessage(stderr, hint, indent);
}

/**
 * Returns the error as a problem document with the exit code. `status` is set only for an error of
 * the service.
 */
export function problemDocument(error: SignageError) {
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

/** Prints an unexpected error (a bug or a failure of the machine) with its stack trace. */
function explainUnexpected(error: unknown, io: Io): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  io.stderr.write(
    `signage: something unexpected happened.\n${text.split('\n').map(escapeControl).join('\n')}\n`,
  );
}

/** Whether the user asked for JSON. Reads the raw words, because parsing them may fail. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const values = words.flatMap((word, at) => {
    if (word === '--json') return ['json'];
    if (word === '-o' || word === '--output') return [words[at + 1]];
    return [/^(?:-o=?|--output=)(.+)$/s.exec(word)?.[1]];
  });
  return isJson(values.findLast((value) => value !== undefined));
}

/**
 * Prints an error to `stderr`: the message, the mistakes if there are several, and a hint. With `-o
 * json` and `-o ndjson`, prints a problem document. Returns the exit code.
 */
export function reportError(error: unknown, argv: readonly string[], io: Io): number {
  if (!(error instanceof SignageError)) {
    const problem = diskProblem(error);
    if (problem) return reportError(problem, argv, io);
    explainUnexpected(error, io);
  } else if (wantsJson(argv)) io.stderr.write(`${printableJson(problemDocument(error), 0)}\n`);
  else explain(error, io);
  return exitCodeOf(error);
}
