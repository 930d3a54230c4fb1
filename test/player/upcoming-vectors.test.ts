import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ActivePlaylist } from '../../src/client/entities.ts';
import { secondMs } from '../../src/domain/clock.ts';
import { hangUp, stubService } from '../support/network/stub-service.ts';
import { upcomingVectors } from '../support/tv/upcoming-vectors.ts';
import { virtualTv } from '../support/tv/virtual-tv.ts';
import { memoryWith } from './saved-tv.ts';

/** A day between two attempts to reach the service. */
const config = { syncIntervalMinutes: 1440, heartbeatIntervalMinutes: 1440, cachePolicy: {} };

describe('fixtures/upcoming: a player without a network', () => {
  it.each(upcomingVectors.map((one) => [one.title, one] as const))(
    '%s',
    async (_, { playlist, at, plays, entryIds }) => {
      const { url } = await stubService(hangUp);
      const startMs = (at[0] ?? 0) * secondMs;
      const memory = await memoryWith({
        config: config as never,
        playlist: { answer: playlist, validUntilMs: playlist.validUntil * secondMs },
      });
      const tv = virtualTv({ url, memory, startMs });
      const seen: unknown[] = [];
      for (const time of at)
        tv.at(time * secondMs - startMs + 500, () => {
          const { showing, playlist } = tv.player.state;
          seen.push([showing?.item.name ?? null, showing ? (playlist?.entryId ?? null) : null]);
        });
      await tv.player.run(undefined, ((at.at(-1) ?? 0) + 1) * secondMs - startMs);
      expect(seen).toEqual(plays.map((name, index) => [name, entryIds[index]]));
    },
  );

  it('are complete', () => {
    expect(upcomingVectors.length).toBeGreaterThanOrEqual(15);
    for (const { at, plays, entryIds } of upcomingVectors) {
      expect([plays.length, entryIds.length]).toEqual([at.length, at.length]);
      expect(at.length).toBeGreaterThan(1);
    }
  });
});

describe('fixtures/upcoming: the function of docs/tv.md', () => {
  const page = readFileSync(new URL('../../docs/tv.md', import.meta.url), 'utf8');
  const code = /^function playsAt[\s\S]*?^}$/m.exec(page)?.[0];
  const playsAt: (
    playlist: ActivePlaylist,
    now: number,
  ) => Pick<ActivePlaylist, 'entryId' | 'items'> | null = new Function(`return ${code}`)();

  it.each(upcomingVectors.map((one) => [one.title, one] as const))(
    '%s',
    (_, { playlist, at, plays, entryIds }) => {
      const seen = at.map((time) => {
        const { entryId = null, items = [] } = playsAt(playlist, time) ?? {};
        return [items[0]?.name ?? null, items.length > 0 ? entryId : null];
      });
      expect(seen).toEqual(plays.map((name, index) => [name, entryIds[index]]));
    },
  );
});
