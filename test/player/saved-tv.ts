import type { PlaylistItem } from '../../src/client/entities.ts';
import { type PlayerMemory, type PlayerState, ramMemory } from '../../src/player/state.ts';
import { json, problem, type StubService, stubService } from '../support/network/stub-service.ts';
import { config, registered } from '../support/service/tv-place.ts';

export const binding = {
  deviceId: 'device',
  screenId: 'screen',
  tenantId: 'tenant',
  apiKey: 'dak_kept',
};

export const playlistOf = (items: PlaylistItem[], more: object = {}) => ({
  id: 'playlist',
  tenantId: 'tenant',
  screenId: 'screen',
  status: 'active' as const,
  version: 1,
  validUntil: 4e9,
  items,
  ...more,
});

/** Returns the memory of a paired TV. */
export async function memoryWith(saved: Partial<PlayerState> = {}): Promise<PlayerMemory> {
  const memory = ramMemory();
  await memory.save({ format: 1, binding, queue: [], ...saved });
  return memory;
}

export type Answer = StubService['answers'][number];

/** Accepts a batch of events. */
export const accepted: Answer = (response, request) =>
  json(202, { received: JSON.parse(request.body).length })(response, request);

/** Starts a stub that answers some calls with these responses, and all others successfully. */
export function tvStub(
  answers: Partial<Record<'register' | 'config' | 'playlist' | 'events', Answer>> = {},
): Promise<StubService> {
  const all: Record<string, Answer> = {
    register: json(201, registered),
    config: json(200, config),
    playlist: problem(404, 'playlist_not_found', 'No.'),
    events: accepted,
    ...answers,
  };
  return stubService((response, request) => {
    const what = request.url.split('/').at(-1) ?? '';
    all[what]?.(response, request);
  });
}
