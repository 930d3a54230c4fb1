import type { Operation } from '../../wire/operations.ts';

/** Tags that group the operations, in the order of the page. */
export const tags = [
  { name: 'tv', description: 'The API for TVs' },
  { name: 'code', description: 'Pairing codes, which bind a TV to a screen' },
  { name: 'device', description: 'Registered TVs' },
  { name: 'tenant', description: 'Tenants: platform tokens only' },
  { name: 'token', description: 'Management tokens' },
  { name: 'venue', description: 'Places with screens' },
  { name: 'screen', description: 'Screens' },
  { name: 'playlist', description: 'What the screens show' },
  { name: 'config', description: 'How often TVs call, and what they keep' },
  { name: 'event', description: 'Telemetry' },
  { name: 'report', description: 'Proof of play' },
  { name: 'data', description: 'Backups of the whole store' },
  { name: 'audit', description: 'Who changed what' },
  { name: 'service', description: 'The service itself' },
];

/**
 * Returns the tag of an operation: the noun of its command. Operations without a command belong to
 * TVs, or to the caller's own token.
 */
export function tagOf({ command, path }: Operation): string {
  return command?.[0] ?? (path.startsWith('/v1/') ? 'token' : 'tv');
}
