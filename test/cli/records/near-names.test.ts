import { describe, expect, it } from 'vitest';
import { didYouMean } from '../../../src/cli/records/near-names.ts';

const words = ['Lobby', 'Lobby East', 'Roof', 'Harbour', '大堂'];

describe('didYouMean', () => {
  it.each([
    ['Loby', 'Did you mean "Lobby"?'],
    ['LOBBY', 'Did you mean "Lobby" or "Lobby East"?'],
    ['lobby esat', 'Did you mean "Lobby East"?'],
    ['Habrour', 'Did you mean "Harbour"?'],
    ['大厅', 'Did you mean "大堂"?'],
    ['Atrium', ''],
    ['x', ''],
  ])('%j: %s', async (typed, question) => {
    expect(await didYouMean(typed, words)).toBe(question);
  });

  it('offers three at most, the nearest first', async () => {
    const many = ['Wall 11', 'Wall 1', 'Wall 12', 'Wall 13', 'Wal 1'];
    expect((await didYouMean('Wall 1', many)).split(' or ')).toHaveLength(3);
    expect(await didYouMean('Wal1', many)).toMatch(/^Did you mean "Wal 1"/);
  });
});
