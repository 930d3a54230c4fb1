import { describe, expect, it } from 'vitest';
import type { CommandContext } from '../../../src/cli/command/context.ts';
import { forEachRecord, type ItemResult } from '../../../src/cli/command/for-each-record.ts';
import { SignageError } from '../../../src/domain/error.ts';

function shownBy(dryRun = false): { call: CommandContext; shown: ItemResult[] } {
  const shown: ItemResult[] = [];
  const list = async (pages: AsyncIterable<ItemResult[]>) => {
    for await (const page of pages) shown.push(...page);
  };
  return { call: { common: { dryRun }, results: { list } } as unknown as CommandContext, shown };
}

const named = (name: string) => ({ name, id: `id of ${name}` });
const three = ['a', 'b', 'c'].map(named);

describe('forEachRecord', () => {
  it('continues after a record that fails, and returns 9', async () => {
    const { call, shown } = shownBy();
    const code = await forEachRecord(call, three, async ({ name }) => {
      if (name === 'b') throw new SignageError('screen_active', 'It has a device.');
      return 'deleted';
    });
    expect(code).toBe(9);
    expect(shown.map(({ name, result, error }) => [name, result, error])).toEqual([
      ['a', 'deleted', null],
      ['b', 'failed', 'It has a device.'],
      ['c', 'deleted', null],
    ]);
  });

  it.each(['unreachable', 'insufficient_role', 'interrupted'])(
    'prints the results so far before it rethrows %s',
    async (code) => {
      const { call, shown } = shownBy();
      const run = forEachRecord(call, three, async ({ name }) => {
        if (name === 'b') throw new SignageError(code, 'Nothing more goes.');
        return 'deleted';
      });
      await expect(run).rejects.toMatchObject({ code });
      expect(shown.map(({ name, result }) => [name, result])).toEqual([['a', 'deleted']]);
    },
  );

  it('prints the results so far when the list of records fails', async () => {
    const { call, shown } = shownBy();
    async function* items() {
      yield named('a');
      throw new SignageError('unreachable', 'Gone.');
    }
    await expect(forEachRecord(call, items(), async () => 'deleted')).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(shown).toHaveLength(1);
  });

  it('prints no results under --dry-run, only the requests', async () => {
    const { call, shown } = shownBy(true);
    expect(await forEachRecord(call, [named('a')], async () => undefined)).toBe(0);
    expect(shown).toEqual([]);
  });
});
