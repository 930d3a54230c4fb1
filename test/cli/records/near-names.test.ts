import { describe, expect, it } from 'vitest';
import { nearNames } from '../../../src/cli/records/near-names.ts';

const records = ['Lobby', 'Lobby East', 'Roof', 'Harbour', '大堂'].map((name) => ({ name }));
const near = async (typed: string) => (await nearNames(typed, records)).map(({ name }) => name);

describe('nearNames', () => {
  it.each([
    ['Loby', ['Lobby']],
    ['LOBBY', ['Lobby', 'Lobby East']],
    ['lobby esat', ['Lobby East']],
    ['Habrour', ['Harbour']],
    ['大厅', ['大堂']],
    ['Atrium', []],
    ['x', []],
  ])('%j is near %j', async (typed, names) => {
    expect(await near(typed)).toEqual(names);
  });

  it('offers three at most, the nearest first', async () => {
    const many = ['Wall 11', 'Wall 1', 'Wall 12', 'Wall 13', 'Wal 1'].map((name) => ({ name }));
    expect(await nearNames('Wall 1', many)).toHaveLength(3);
    expect((await nearNames('Wal1', many))[0]).toEqual({ name: 'Wal 1' });
  });
});
