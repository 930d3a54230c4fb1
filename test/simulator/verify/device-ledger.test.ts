import { describe, expect, it } from 'vitest';
import { contentHash, HashList } from '../../../src/simulator/verify/content-hash.ts';
import { DeviceLedger } from '../../../src/simulator/verify/device-ledger.ts';

const beat = (timestamp: number) => ({ type: 'heartbeat', timestamp });
const events = (...timestamps: number[]) => timestamps.map(beat);

function stored(...all: object[]): HashList {
  const list = new HashList();
  list.addAll(all.map(contentHash));
  return list;
}

function ledger(...carriedKeys: string[]): DeviceLedger {
  return new DeviceLedger('device', 'screen', carriedKeys);
}

describe('what was acknowledged', () => {
  it('is there, in whatever order, and its members in any', () => {
    const one = ledger();
    one.sending('a', events(1, 2, 2))('acknowledged');
    expect(one.balance(stored({ timestamp: 2, type: 'heartbeat' }, beat(1), beat(2)))).toEqual({
      acknowledged: 3,
      stored: 3,
      lost: 0,
      duplicated: 0,
      strange: 0,
    });
  });

  it('and is missing, is lost', () => {
    const one = ledger();
    one.sending('a', events(1, 2, 3))('acknowledged');
    expect(one.balance(stored(beat(2)))).toMatchObject({ lost: 2, duplicated: 0, strange: 0 });
  });

  it('and is there twice, is duplicated', () => {
    const one = ledger();
    one.sending('a', events(1))('acknowledged');
    expect(one.balance(stored(beat(1), beat(1)))).toMatchObject({
      lost: 0,
      duplicated: 1,
      strange: 0,
    });
  });

  it('and was altered, is lost and strange', () => {
    const one = ledger();
    one.sending('a', events(1))('acknowledged');
    expect(one.balance(stored(beat(2)))).toMatchObject({ lost: 1, duplicated: 0, strange: 1 });
    expect(one.balance(stored({ ...beat(1), nested: { b: 1, a: [2] } }))).toMatchObject({
      lost: 1,
      strange: 1,
    });
  });

  it('counts once when the same batch is acknowledged again, under the same key', () => {
    const one = ledger();
    one.sending('a', events(1))('unknown');
    one.sending('a', events(1))('acknowledged');
    one.sending('a', events(1))('acknowledged');
    expect(one.balance(stored(beat(1)))).toMatchObject({ acknowledged: 1, lost: 0, duplicated: 0 });
    expect(one.balance(stored(beat(1), beat(1)))).toMatchObject({ duplicated: 1 });
    expect(one.repeats).toBe(2);
  });

  it('counts each time without a key, and once for each key', () => {
    const one = ledger();
    one.sending(undefined, events(1))('acknowledged');
    one.sending(undefined, events(1))('acknowledged');
    one.sending('a', events(1))('acknowledged');
    expect(one.balance(stored(beat(1), beat(1), beat(1)))).toMatchObject({
      acknowledged: 3,
      lost: 0,
      duplicated: 0,
    });
    expect(one.repeats).toBe(0);
  });
});

describe('what nobody answered for', () => {
  it('may be there or not, and with a key once at most', () => {
    const one = ledger();
    one.sending('a', events(1))('unknown');
    one.sending('a', events(1))('unknown');
    expect(one.balance(stored())).toMatchObject({ lost: 0, strange: 0 });
    expect(one.balance(stored(beat(1)))).toMatchObject({ duplicated: 0, strange: 0 });
    expect(one.balance(stored(beat(1), beat(1)))).toMatchObject({ duplicated: 1 });
  });

  it('may be there as often as it was sent without a key', () => {
    const one = ledger();
    one.sending(undefined, events(1))('unknown');
    one.sending(undefined, events(1))('unknown');
    expect(one.balance(stored(beat(1), beat(1)))).toMatchObject({ duplicated: 0, strange: 0 });
  });

  it('stays open when a later try is refused', () => {
    const one = ledger();
    one.sending('a', events(1))('unknown');
    one.sending('a', events(1))('refused');
    expect(one.balance(stored(beat(1)))).toMatchObject({ strange: 0, duplicated: 0 });
  });

  it('is open while it is under way', () => {
    const one = ledger();
    one.sending('a', events(1));
    expect(one.balance(stored(beat(1)))).toMatchObject({ strange: 0, duplicated: 0 });
  });

  it('is settled by a copy that was acknowledged, however the other ends', () => {
    const one = ledger();
    const [first, copy] = [one.sending('a', events(1)), one.sending('a', events(1))];
    copy('acknowledged');
    first('refused');
    expect(one.balance(stored(beat(1)))).toMatchObject({ acknowledged: 1, lost: 0, duplicated: 0 });
  });
});

it('what was refused each time must not be there, nor what was never sent', () => {
  const one = ledger();
  one.sending('a', events(1))('refused');
  one.sending('a', events(1))('refused');
  expect(one.balance(stored())).toMatchObject({ lost: 0, strange: 0 });
  expect(one.balance(stored(beat(1), beat(2)))).toMatchObject({ strange: 2 });
});

it('a batch that an earlier run had begun to send may have been stored then', () => {
  const one = ledger('carried');
  one.sending('carried', events(1))('acknowledged');
  expect(one.balance(stored())).toMatchObject({ lost: 0 });
  expect(one.balance(stored(beat(1)))).toMatchObject({ strange: 0, duplicated: 0 });
  expect(one.balance(stored(beat(1), beat(1)))).toMatchObject({ duplicated: 1 });
});
