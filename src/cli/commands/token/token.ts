import type { CallAnswer, CallInput } from '../../../client/call.ts';
import { type Role, roles, tenantRoles } from '../../../domain/records/role.ts';
import { keepSecret } from '../../connection/keep-secret.ts';
import { reserveFile } from '../../connection/private-file.ts';
import * as option from '../../input/option.ts';
import { type Setting, usage } from '../../input/settings.ts';
import { readTime } from '../../input/time.ts';
import type { CommandContext } from '../../program/context.ts';
import { defineCommand, one } from '../../program/spec.ts';
import { findToken, findVenue } from '../../records/find.ts';
import {
  createdTokenView,
  knownTokenView,
  namesOf,
  tokensView,
  tokenView,
} from '../../records/views/access-views.ts';

/** Shows or saves a new token. If that fails, deletes the token, because its secret is lost. */
function keepToken(
  call: CommandContext,
  { id, name }: CallAnswer<'createToken'>,
  keep: () => Promise<void>,
): Promise<void> {
  return keepSecret(keep, {
    undo: async () => {
      await call.change('deleteToken', { params: { id } });
      return 'The token was deleted again.';
    },
    left: `The token "${name}" exists, and nobody knows its secret. Delete it: signage token delete ${id}`,
  });
}

/**
 * Prints a note if the new token expires earlier than requested, together with the token that
 * created it.
 */
function noteCapped(
  call: CommandContext,
  asked: string | undefined,
  { expiresAt }: Pick<CallAnswer<'createToken'>, 'expiresAt'>,
): void {
  if (expiresAt === null || (asked !== undefined && Date.parse(asked) <= Date.parse(expiresAt)))
    return;
  call.note(`It expires at ${expiresAt}, together with the token that created it.`);
}

type Body = CallInput<'createToken'>['body'];

/** Reads `--expires`. A duration counts from the time on the clock of this machine. */
function expiry(call: CommandContext, text: string): string {
  const timeMs = readTime(text, { source: '--expires', nowMs: call.clock.now(), spans: 'ahead' });
  const time = new Date(timeMs);
  if (!(time.getUTCFullYear() <= 9999))
    throw usage(`--expires is too late: "${text}". Leave it out for a token that never expires.`);
  return time.toISOString();
}

async function createInto(
  call: CommandContext,
  path: string,
  body: Body,
  venueName: (id: string) => string,
): Promise<void> {
  const file = await reserveFile(path, '--output-file');
  try {
    const made = await call.change('createToken', { body });
    if (!made) return;
    await keepToken(call, made.answer, () => file.write(made.answer.token));
    const { token: _kept, ...known } = made.answer;
    await call.results.record(known, knownTokenView(venueName, call.clock.now()));
    noteCapped(call, body.expiresAt ?? undefined, made.answer);
    call.note(`The token is in ${path}.`);
  } catch (error) {
    await file.discard();
    throw error;
  }
}

const roleOption = <R extends Role>(choices: readonly R[]): Setting<R> => ({
  ...option.oneOf(choices, 'viewer' as R, '--role <role>', `what it may do: ${choices.join(', ')}`),
  shown: undefined,
  required: true,
});

const venueOption = option.repeated(
  '--venue <venue>',
  'limit it to this venue, by id or name: it cannot see or change anything else',
  'venue',
);

/** Returns the names of venues by their ids. */
async function findVenues(call: CommandContext, venues: readonly string[]) {
  const names = new Map<string, string>();
  for (const one of venues) {
    const found = await findVenue(call, one);
    names.set(found.id, found.name);
  }
  return names;
}

const create = defineCommand({
  summary: 'Create a management token',
  description: `The token is shown only once. With --output-file it is written to a new file that
only you can read, and not to the terminal or a log. Every command reads such a file with
--token-file. A token expires no later than the token that creates it.`,
  options: {
    name: option.required('--name <name>', 'its name, unique in the tenant'),
    role: roleOption(roles),
    expires: option.text(
      '--expires <time>',
      'when it expires: a time span such as 12h or 30d, or a date such as 2026-12-01',
    ),
    venue: venueOption,
    outputFile: option.text(
      '--output-file <file>',
      'write the token to this new file instead of showing it',
    ),
  },
  examples: [
    ['signage token create --name "Front desk" --role viewer', 'shows the token once'],
    [
      'signage token create --name "Fitter" --role installer --venue Lobby --expires 12h',
      'for one venue and 12 hours',
    ],
    [
      'signage token create --name Audit --role viewer --expires 2026-12-01',
      'until that day begins (UTC)',
    ],
    [
      'signage token create --name CI --role operator --output-file ci.token',
      'writes the token to a file only',
    ],
    [
      'signage token create --name CI --role operator --jq .token',
      'for scripts: prints the token alone',
    ],
  ],
  effect: 'changes',
  hints: { name_taken: 'It already exists: signage token get {name}' },
  async run(call) {
    const { name, role, expires, venue, outputFile } = call.options;
    const expiresAt = expires === undefined ? undefined : expiry(call, expires);
    const venues = await findVenues(call, venue);
    const venueIds = venues.size > 0 ? [...venues.keys()] : undefined;
    const body = { name, role, expiresAt, venueIds };
    const venueName = namesOf(venues);
    if (outputFile !== undefined && !call.common.dryRun)
      return createInto(call, outputFile, body, venueName);
    const made = await call.change('createToken', { body });
    if (!made) return;
    await keepToken(call, made.answer, () =>
      call.results.record(made.answer, createdTokenView(venueName, call.clock.now())),
    );
    noteCapped(call, expiresAt, made.answer);
    call.note('Save the token now: it is not shown again.');
  },
});

const approve = defineCommand({
  summary: 'Give a token to somebody who waits at signage login --device',
  description: `Shows what the asker says of itself, which nobody has checked, and asks first. Type
only a code that a person you know reads out to you, now. The token goes to the asker alone, and is
never shown here. It expires no later than the token that approves it.`,
  arguments: { code: one('the code that signage login --device shows') },
  options: {
    role: roleOption(tenantRoles),
    expires: option.required(
      '--expires <time>',
      'when it expires: a time span such as 12h or 30d, or a date such as 2026-12-01',
    ),
    venue: venueOption,
    allVenues: option.flag('--all-venues', 'do not limit it to venues'),
    name: option.text('--name <name>', 'its name; default: user, host and code'),
  },
  examples: [
    [
      'signage token approve WDJB-MJHT --role installer --venue Lobby --expires 12h',
      'for one venue and 12 hours; --yes for scripts',
    ],
    [
      'signage token approve WDJB-MJHT --role viewer --all-venues --expires 30d --name Alice',
      'for the whole tenant',
    ],
  ],
  effect: 'changes',
  hints: {
    login_not_found: 'Ask for the code again: it ends after ten minutes.',
    login_approved: 'A code is approved once. For another token: signage login --device',
  },
  async run(call) {
    const { name, role, expires, venue, allVenues } = call.options;
    if (allVenues === venue.length > 0) throw usage('Give either --venue or --all-venues.');
    const expiresAt = expiry(call, expires);
    const venues = await findVenues(call, venue);
    const { approveToken } = await import('./approve-token.ts');
    const made = await approveToken(call, call.args.code, { name, role, expiresAt, venues });
    if (made) noteCapped(call, expiresAt, made);
  },
});

const list = defineCommand({
  summary: 'List management tokens',
  description: 'The column EXPIRES shows "soon" for tokens that expire within 7 days.',
  options: { search: option.text('--search <text>', 'only names that contain this text') },
  examples: [
    ['signage token list', 'all tokens, without their secrets'],
    [
      'signage token list -o json --jq ".[] | select(.lastUsedAt == null) | .name"',
      'tokens that were never used',
    ],
    [
      `signage token list -o json --jq '.[] | select(.expiresAt != null and .expiresAt < "2026-12-01") | .name'`,
      'tokens that expire before December',
    ],
  ],
  list: true,
  async run(call) {
    await call.list('listTokens', tokensView(call), { query: call.options });
  },
});

const get = defineCommand({
  summary: 'Show a management token, without its secret',
  arguments: { token: one('its id or name', 'token') },
  examples: [
    ['signage token get CI', 'by its name'],
    ['signage token get CI -o json --jq .lastUsedAt', 'one field'],
  ],
  async run(call) {
    const token = await findToken(call, call.args.token);
    await call.results.record(token, tokenView(call, token));
  },
});

const remove = defineCommand({
  summary: 'Delete a management token',
  description: 'Requests with this token are rejected from then on.',
  arguments: { token: one('its id or name', 'token') },
  examples: [
    ['signage token delete CI', 'asks first'],
    ['signage token delete CI --yes', 'for scripts: does not ask first'],
  ],
  effect: 'destroys',
  async run(call) {
    const { id, name, role } = await findToken(call, call.args.token);
    const { tokenId } = await call.read('getMe');
    const own = tokenId === id ? ' You are using this token now.' : '';
    await call.confirmDestruction(`Delete the token "${name}" (${role})?${own}`);
    const made = await call.change('deleteToken', { params: { id } });
    if (made) call.note(`Deleted the token "${name}".${own}`);
  },
});

const rotate = defineCommand({
  summary: 'Give a management token a new secret',
  description: `Name, role, venues and expiry stay the same. The old secret works until the new one
is first used, at most 24 hours. --now ends it at once. Saved contexts of this service that hold the
token get the new secret before it is shown. If the command is interrupted, run it again: the old
secret still works. Revoke a token that others may know instead: signage token delete.`,
  arguments: { token: one('its id or name', 'token') },
  options: {
    now: option.flag('--now', 'end the old secret at once, by using the new one'),
    outputFile: option.text(
      '--output-file <file>',
      'write the new secret to this new file instead of showing it',
    ),
  },
  examples: [
    ['signage token rotate CI', 'shows the new secret once'],
    ['signage token rotate CI --output-file ci.token', 'writes it to a file only'],
    ['signage token rotate CI --now --jq .token', 'for scripts: prints the secret alone'],
  ],
  effect: 'changes',
  async run(call) {
    const { rotateToken } = await import('./rotate-token.ts');
    await rotateToken(call, await findToken(call, call.args.token), call.options);
  },
});

export const token = { create, approve, list, get, rotate, delete: remove };
