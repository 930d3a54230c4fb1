import { randomUUID } from 'node:crypto';

/** A playlist item with a random id. */
export function item(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    creativeId: randomUUID(),
    creativeUrl: 'https://media.example.com/spring.mp4',
    creativeType: 'video',
    duration: 15,
    ...more,
  };
}

/** An impression event with random ids. */
export function impression(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    type: 'impression',
    timestamp: 1760000000,
    playlistId: randomUUID(),
    creativeId: randomUUID(),
    campaignId: randomUUID(),
    ...more,
  };
}
