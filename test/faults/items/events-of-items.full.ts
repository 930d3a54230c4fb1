import { expect, it } from 'vitest';
import { checkEventsOfItems } from '../../domain/playlists/events-of-items.ts';

const wanted = 200_000;

it('accepts all events of our player about 200,000 random items that it accepted', () => {
  const seed = Number(process.env.ITEMS_SEED ?? Date.now() % 1e9);
  let accepted = 0;
  let named = 0;
  let rounds = 0;
  for (; accepted < wanted; rounds++) {
    const round = checkEventsOfItems({ numRuns: 20_000, seed: seed + rounds });
    accepted += round.accepted;
    named += round.named;
  }
  console.log(JSON.stringify({ seed, items: rounds * 20_000, accepted, named, refused: 0 }));
  expect(named).toBeGreaterThan(wanted / 20);
});
