import { describe, expect, it } from 'vitest';
import type { CommandContext } from '../../../src/cli/program/context.ts';
import { forEachRecord, type ItemResult } from '../../../src/cli/records/for-each-record.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { SignageError } from '../../../src/domain/error.ts';
import { fakeIo } from '../../support/process/fake-io.ts';

function shownBy(dryRun = false) {
  const shown: ItemResult[] = [];
  const list = async (pages: AsyncIterable<ItemResult[]>) => {
    for await (const page of pages) shown.push(...page);
  };
  const io = fakeIo();
  const notes: string[] = [];
  const call = {
    io,
    clock: systemClock,
    common: { dryRun, quiet: false },
    shownError: (error: SignageError) => error,
    results: { list },
    note: (text: string) => void notes.push(text),
  };
  return { call: call as unknown as CommandContext, shown, notes };
}

const named = (name: string) => ({ name, id: `id of ${name}` });
const three = ['a', 'b', 'c'].map(named);
const many = Array.from({ length: 100 }, (_, at) => named(`${at}`));

describe('forEachRecord', () => {
  it('continues after a record that fails, and returns 9', async () => {
    const { call, shown, notes } = shownBy();
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
    expect(notes).toEqual(['2 deleted, 1 failed.']);
  });

  it('works on 16 records at a time, and prints the results in order', async () => {
    const { call, shown } = shownBy();
    let working = 0;
    let most = 0;
    await forEachRecord(call, many, async ({ name }) => {
      most = Math.max(most, ++working);
      // Later records end earlier.
      for (let turn = Number(name); turn < many.length; turn++) await undefined;
      working--;
      return 'deleted';
    });
    expect(most).toBe(16);
    expect(shown.map(({ name }) => name)).toEqual(many.map(({ name }) => name));
  });

  it('prints further members of results', async () => {
    const { call, shown } = shownBy();
    await forEachRecord(call, [named('a')], async () => ({ result: 'created', code: 'ABCD2345' }));
    expect(shown).toMatchObject([{ name: 'a', result: 'created', code: 'ABCD2345', error: null }]);
  });

  it.each(['unreachable', 'insufficient_role', 'interrupted'] as const)(
    'prints the results so far before it rethrows %s',
    async (code) => {
      const { call, shown } = shownBy();
      const begun = new Set<string>();
      const run = forEachRecord(call, many, async ({ name }) => {
        begun.add(name);
        if (name === '20') throw new SignageError(code, 'Nothing more goes.');
        return 'deleted';
      });
      await expect(run).rejects.toMatchObject({ code });
      expect(begun.size).toBeLessThan(40);
      expect(shown.map(({ name }) => name)).toEqual([...begun].filter((name) => name !== '20'));
    },
  );

  it('prints no results under --dry-run, only the requests', async () => {
    const { call, shown } = shownBy(true);
    expect(await forEachRecord(call, [named('a')], async () => undefined)).toBe(0);
    expect(shown).toEqual([]);
  });
});
