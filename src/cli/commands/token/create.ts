import type { CallAnswer, CallInput } from '../../../client/call.ts';
import { SignageError } from '../../../domain/error.ts';
import { type ReservedFile, reserveFile } from '../../api/reserved-file.ts';
import type { CommandContext } from '../../command/context.ts';
import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { roleOption } from '../../options/role.ts';
import { usage } from '../../options/settings.ts';
import { readTime } from '../../options/time.ts';
import { findVenue } from '../../records/find.ts';
import { namesOf } from '../../records/views/reach-columns.ts';
import { createdTokenView, knownTokenView } from '../../records/views/token-view.ts';

/** Keeps a token that was just made. One that cannot be kept is deleted again: nobody has it. */
async function keep(
  call: CommandContext,
  path: string,
  file: ReservedFile,
  { id, token }: CallAnswer<'createToken'>,
): Promise<void> {
  try {
    await file.write(token);
  } catch (error) {
    await call.change('deleteToken', { params: { id } });
    const why = (error as Error).message;
    throw new SignageError(
      'token_not_kept',
      `${path} cannot be written: ${why}. The token was deleted again.`,
      { cause: error },
    );
  }
}

/** Notes that the token ends earlier than was asked, because the one that made it does. */
function noteCapped(
  call: CommandContext,
  asked: string | undefined,
  { expiresAt }: CallAnswer<'createToken'>,
): void {
  if (expiresAt === null || (asked !== undefined && Date.parse(asked) <= Date.parse(expiresAt)))
    return;
  call.note(`It ends at ${expiresAt}, when the token that made it ends.`);
}

type Body = CallInput<'createToken'>['body'];

/** Times without a date are counted by the clock of this machine. */
function expiry(call: CommandContext, text: string): string {
  const timeMs = readTime(text, { source: '--expires', nowMs: call.clock.now(), spans: 'ahead' });
  const time = new Date(timeMs);
  if (!(time.getUTCFullYear() <= 9999))
    throw usage(`--expires is too far away: "${text}". Leave it out for a token that never ends.`);
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
    await keep(call, path, file, made.answer);
    const { token: _kept, ...known } = made.answer;
    await call.results.record(known, knownTokenView(venueName, call.clock.now()));
    noteCapped(call, body.expiresAt ?? undefined, made.answer);
    call.note(`The token is in ${path}.`);
  } catch (error) {
    await file.discard();
    throw error;
  }
}

export const command = defineCommand({
  summary: 'Make a management token',
  description:
    'The token itself is in this one result and can never be shown again. With --output-file it goes into a new file that only you ' +
    'may read, and not into the result: no terminal and no log sees it. --token-file, of every command, reads such a file. A token ' +
    'ends no later than the one that makes it.',
  options: {
    name: option.needed('--name <name>', 'what people call it; unique in the tenant'),
    role: roleOption,
    expires: option.text(
      '--expires <time>',
      'when it ends: a span from now such as 12h or 30d, or a time such as 2026-12-01',
    ),
    venue: option.repeated(
      '--venue <venue>',
      'bind it to this venue, by id or name: it sees and does nothing elsewhere',
      'venue',
    ),
    outputFile: option.text(
      '--output-file <file>',
      'a new file to write the token to, in place of showing it',
    ),
  },
  examples: [
    ['signage token create --name "Front desk" --role viewer', 'shows the token, this once'],
    [
      'signage token create --name "Fitter" --role installer --venue Lobby --expires 12h',
      'for one venue and one day',
    ],
    [
      'signage token create --name Audit --role viewer --expires 2026-12-01',
      'until that day begins (UTC)',
    ],
    [
      'signage token create --name CI --role operator --output-file ci.token',
      'the token goes into the file alone',
    ],
    [
      'signage token create --name CI --role operator --jq .token',
      'for scripts: prints the token alone',
    ],
  ],
  operation: 'createToken',
  effect: 'changes',
  hints: { name_taken: 'It is there already: signage token get {name}' },
  async run(call) {
    const { name, role, expires, venue, outputFile } = call.options;
    const expiresAt = expires === undefined ? undefined : expiry(call, expires);
    const venues = new Map<string, string>();
    for (const one of venue) {
      const found = await findVenue(call, one);
      venues.set(found.id, found.name);
    }
    const reach = {
      ...(expiresAt !== undefined && { expiresAt }),
      ...(venues.size > 0 && { venueIds: [...venues.keys()] }),
    };
    const [body, venueName] = [{ name, role, ...reach }, namesOf(venues)];
    if (outputFile !== undefined && !call.common.dryRun)
      return createInto(call, outputFile, body, venueName);
    const made = await call.change('createToken', { body });
    if (!made) return;
    await call.results.record(made.answer, createdTokenView(venueName, call.clock.now()));
    noteCapped(call, expiresAt, made.answer);
    call.note('Keep the token safe: it is not shown again.');
  },
});
