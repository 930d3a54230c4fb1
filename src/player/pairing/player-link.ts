import type { PlayerBinding, PlayerState } from '../state.ts';

/** Members of a binding, and their names in the fragment of the URL. */
const names = {
  apiKey: 'key',
  deviceId: 'device',
  screenId: 'screen',
  tenantId: 'tenant',
} as const;
const id = /^[0-9a-f-]{36}$/;
const forms = { apiKey: /^dak_[0-9A-Za-z]{20,80}$/, deviceId: id, screenId: id, tenantId: id };
type Member = keyof typeof names;

/**
 * Returns the address of the web player with a binding. The binding is in the fragment, which
 * browsers never send to a server.
 */
export function playerKeyLink(serviceUrl: string, binding: PlayerBinding): string {
  const members = Object.keys(names) as Member[];
  const fragment = members.map((member) => `${names[member]}=${binding[member]}`).join('&');
  return `${serviceUrl.replace(/\/$/, '')}/player#${fragment}`;
}

/** Returns the binding in the fragment of a URL. `undefined` if the fragment has no binding. */
export function bindingInFragment(fragment: string): PlayerBinding | undefined {
  const values = new URLSearchParams(fragment.replace(/^#/, ''));
  const members = Object.keys(names) as Member[];
  const binding = Object.fromEntries(
    members.map((member) => [member, values.get(names[member]) ?? '']),
  ) as Record<Member, string>;
  return members.every((member) => forms[member].test(binding[member])) ? binding : undefined;
}

/** Returns the saved state of a player with the key of a link. It does not number its events. */
export const stateOfLink = (binding: PlayerBinding): PlayerState => ({
  format: 1,
  binding,
  nextSeq: null,
  queue: [],
});

/** Returns the address of the web player, with a pairing code in the fragment. */
export function playerCodeLink(serviceUrl: string, code: string): string {
  return `${serviceUrl.replace(/\/$/, '')}/player#${code}`;
}
