import type { ManagementClient } from '../../../client/management-client.ts';
import type { Flags, NameKind } from '../../input/settings.ts';
import { readSettings } from '../../input/settings.ts';
import { connectionOptions } from '../../input/shared.ts';
import { typedName } from '../../records/names.ts';
import type { Environment } from '../../terminal/environment.ts';
import { isPrintable } from '../../terminal/escape.ts';

/** A possible completion of the last word. */
export interface Candidate {
  /** Text of the whole word. If it ends in `/` or `=`, the shell adds no space after it. */
  text: string;
  description: string;
}

/** Time limit of a completion. It is short, because a person waits. */
const timeoutMs = 1_500;
const limit = 100;

interface NameQuery {
  client: ManagementClient;
  signal: AbortSignal;
  /** The part typed so far. */
  typed: string;
}

/** A record of any kind that is completed by its name. */
interface Named {
  id: string;
  name: string;
  address?: string | null;
  role?: string;
}

const lists = {
  venue: 'listVenues',
  tenant: 'listTenants',
  token: 'listTokens',
  campaign: 'listCampaigns',
} as const;

const part = (typed: string) => ({ limit, ...(typed !== '' && { search: typed }) });

async function records(
  kind: keyof typeof lists,
  { client, signal, typed }: NameQuery,
): Promise<Candidate[]> {
  const answer = await client.call(lists[kind], { query: part(typed), signal });
  return answer.items.map((record: Named) => ({
    text: typedName(record),
    description: record.address ?? record.role ?? '',
  }));
}

/** Completes like a path: first venues, then the screens of one venue. */
async function screens(query: NameQuery): Promise<Candidate[]> {
  const { client, signal, typed } = query;
  const slash = typed.indexOf('/');
  if (slash < 0) {
    const offered = await records('venue', query);
    return offered.map(({ text, description }) => ({ text: `${text}/`, description }));
  }
  const name = typed.slice(0, slash);
  const [venue] = (await client.call('listVenues', { query: { name }, signal })).items;
  if (!venue) return [];
  const { items } = await client.call('listScreens', {
    query: { ...part(typed.slice(slash + 1)), venueId: venue.id },
    signal,
  });
  const shown = items.filter((screen) => isPrintable(screen.name));
  return shown.map((screen) => ({ text: `${name}/${screen.name}`, description: screen.state }));
}

async function contexts({ io }: Environment): Promise<Candidate[]> {
  const { readContexts } = await import('../../connection/contexts.ts');
  const saved = (await readContexts(io)).contexts;
  return Object.entries(saved).map(([text, { url }]) => ({ text, description: url }));
}

async function askService(
  kind: Exclude<NameKind, 'context'>,
  typed: string,
  flags: Flags,
  context: Environment,
): Promise<Candidate[]> {
  const [{ readProfile }, { connect }] = await Promise.all([
    import('../../connection/profile.ts'),
    import('../../connection/connect.ts'),
  ]);
  const timedOut = new AbortController();
  const cancel = context.clock.after(timeoutMs, () => timedOut.abort());
  const signal = AbortSignal.any([timedOut.signal, context.interrupted]);
  try {
    const profile = await readProfile(readSettings(connectionOptions, flags, {}), context.io);
    // Ignores `--tenant` when completing a tenant name, because the option may hold the unfinished
    // name.
    const wanted = kind === 'tenant' ? { ...profile, tenant: undefined } : profile;
    const { client } = await connect(
      wanted,
      { ...context, interrupted: signal },
      { verbose: false, quiet: true, retry: 0 },
    );
    const query = { client, signal, typed };
    return await (kind === 'screen' || kind === 'device' ? screens(query) : records(kind, query));
  } finally {
    cancel();
  }
}

/**
 * Returns the names of records of a kind. `flags` select the service. Returns nothing on errors and
 * timeouts, because a message would disturb the line that the user types.
 */
export async function findNames(
  kind: NameKind,
  typed: string,
  flags: Flags,
  context: Environment,
): Promise<Candidate[]> {
  try {
    const found =
      kind === 'context' ? await contexts(context) : await askService(kind, typed, flags, context);
    return found.filter(({ text }) => isPrintable(text) && !text.startsWith('-'));
  } catch {
    return [];
  }
}
