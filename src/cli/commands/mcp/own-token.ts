import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { CallAnswer } from '../../../client/call.ts';
import { hourMs } from '../../../domain/clock.ts';
import { hasCode, SignageError } from '../../../domain/error.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { findVenue } from '../../records/find.ts';
import { type CredentialSource, type Credentials, ownEnvironment } from './run-commands.ts';

/** Time after which the token of a run expires, if nothing deletes it. */
const tokenLifeMs = 12 * hourMs;
const strongRoles: readonly string[] = ['admin', 'platform'];

/**
 * The token that tools use: that of the command, or one of this run if that of the command is
 * stronger than they need.
 */
export class OwnToken implements CredentialSource {
  readonly #call: CommandContext;
  #credentials: Promise<Credentials> | undefined;
  #id: string | undefined;

  constructor(call: CommandContext) {
    this.#call = call;
  }

  /** Creates the token at the first call. */
  credentials(): Promise<Credentials> {
    this.#credentials ??= this.#connect().catch((error: unknown) => {
      this.#credentials = undefined;
      throw error;
    });
    return this.#credentials;
  }

  /** Forgets the token of this run if it is dead, so that the next call makes another. */
  explained(error: unknown, used: Promise<Credentials>): unknown {
    const isDead = hasCode(error, 'credential_invalid') || hasCode(error, 'credential_expired');
    if (!isDead || this.#id === undefined || this.#credentials !== used) return error;
    this.#id = undefined;
    this.#credentials = undefined;
    const hint = 'Call the tool again: it then makes a new token for this run.';
    return new SignageError(error.code, error.message, { ...error, retryAfterSeconds: 0, hint });
  }

  /** Deletes the token of this run. */
  async close(): Promise<void> {
    await this.#credentials?.catch(() => {});
    const id = this.#id;
    if (id === undefined) return;
    // The signal that ended the command must not prevent it.
    const { signal } = new AbortController();
    try {
      await this.#call.change('deleteToken', { params: { id }, signal });
    } catch (error) {
      if (!(error instanceof SignageError)) throw error;
      this.#call.note(
        `The token of this run was not deleted, and expires within 12 hours (signage token delete ${id}): ${error.message}`,
      );
    }
  }

  async #connect(): Promise<Credentials> {
    const { io, options } = this.#call;
    const { url, token, tenant, caFile, insecureHttp } = await this.#call.profile();
    const { role } = await this.#call.read('getMe');
    const isStrong = strongRoles.includes(role);
    if (!isStrong && options.venue !== undefined)
      throw usage('--venue needs the token of an admin, which may create one for the venue.');
    const own = isStrong ? await this.#create() : undefined;
    const env = {
      ...ownEnvironment(io),
      SIGNAGE_URL: url.value,
      SIGNAGE_TOKEN: own?.token ?? token?.value,
      SIGNAGE_CA_FILE: caFile,
      SIGNAGE_TENANT: own ? undefined : tenant?.value,
    };
    return { env, flags: insecureHttp ? { insecureHttp } : {} };
  }

  async #create(): Promise<CallAnswer<'createToken'>> {
    const { clock, options } = this.#call;
    const venue =
      options.venue === undefined ? undefined : await findVenue(this.#call, options.venue);
    const body = {
      name: `signage mcp ${hostname()} ${randomBytes(4).toString('hex')}`.slice(0, 100),
      role: options.allowChanges ? ('operator' as const) : ('viewer' as const),
      expiresAt: new Date(clock.now() + tokenLifeMs).toISOString(),
      venueIds: venue && [venue.id],
    };
    const made = await this.#call.change('createToken', { body });
    if (!made) throw usage('--dry-run does not work here.');
    this.#id = made.answer.id;
    return made.answer;
  }
}
