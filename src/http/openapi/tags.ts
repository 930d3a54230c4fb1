import type { Operation } from '../../wire/operations.ts';

/** The nouns under which the operations are grouped, in the order of the page. */
export const tags = [
  { name: 'tv', description: 'What a TV itself calls' },
  { name: 'code', description: 'Pairing codes, by which a TV finds its screen' },
  { name: 'device', description: 'TVs that registered' },
  { name: 'tenant', description: 'Tenants: platform tokens only' },
  { name: 'token', description: 'Management tokens' },
  { name: 'venue', description: 'Places that have screens' },
  { name: 'screen', description: 'Screens' },
  { name: 'playlist', description: 'What the screens show' },
  { name: 'config', description: 'How often TVs call, and what they keep' },
  { name: 'event', description: 'Telemetry' },
  { name: 'report', description: 'Proof of play' },
  { name: 'data', description: 'Backups of the whole store' },
  { name: 'audit', description: 'Who changed what' },
  { name: 'service', description: 'The service itself' },
];

/** The noun of an operation: that of its command; what has no command is a TV's, or about one's own token. */
export function tagOf({ command, path }: Operation): string {
  return command?.[0] ?? (path.startsWith('/v1/') ? 'token' : 'tv');
}
