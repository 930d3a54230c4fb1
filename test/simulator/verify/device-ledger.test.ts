import { describe, expect, it } from 'vitest';
import { contentHash, DeviceLedger } from '../../../src/simulator/verify/device-ledger.ts';

const beat = (timestamp: number) => ({ type: 'heartbeat', timestamp });
const events = (...timestamps: number[]) => timestamps.map(beat);

const stored = (...all: object[]) => all.map(contentHash);

function ledger(...carriedKeys: string[]): DeviceLedger {
  return new DeviceLedger('device', 'screen', carriedKeys);
}

describe('an acknowledged event', () => {
  it('is found in any order of events and members', () => {
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

  it('that is missing counts as lost', () => {
    const one = ledger();
    one.sending('a', events(1, 2, 3))('acknowledged');
    expect(one.balance(stored(beat(2)))).toMatchObject({ lost: 2, duplicated: 0, strange: 0 });
  });

  it('that is stored twice counts as duplicated', () => {
    const one = ledger();
    one.sending('a', events(1))('acknowledged');
    expect(one.balance(stored(beat(1), beat(1)))).toMatchObject({
      lost: 0,
      duplicated: 1,
      strange: 0,
    });
  });

  it('that was altered counts as lost and strange', () => {
    const one = ledger();
    one.sending('a', events(1))('acknowledged');
    expect(one.balance(stored(beat(2)))).toMatchObject({ lost: 1, duplicated: 0, strange: 1 });
    expect(one.balance(stored({ ...beat(1), nested: { b: 1, a: [2] } }))).toMatchObject({
      lost: 1,
      strange: 1,
    });
  });

  it('counts once if its batch is acknowledged again with the same key', () => {
    const one = ledger();
    one.sending('a', events(1))('unknown');
    one.sending('a', events(1))('acknowledged');
    one.sending('a', events(1))('acknowledged');
    expect(one.balance(stored(beat(1)))).toMatchObject({ acknowledged: 1, lost: 0, duplicated: 0 });
    expect(one.balance(stored(beat(1), beat(1)))).toMatchObject({ duplicated: 1 });
    expect(one.repeats).toBe(2);
  });

  it('counts every time without a key, and once per key', () => {
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

describe('an event with an unknown outcome', () => {
  it('may be stored or not, with a key at most once', () => {
    const one = ledger();
    one.sending('a', events(1))('unknown');
    one.sending('a', events(1))('unknown');
    expect(one.balance(stored())).toMatchObject({ lost: 0, strange: 0 });
    expect(one.balance(stored(beat(1)))).toMatchObject({ duplicated: 0, strange: 0 });
    expect(one.balance(stored(beat(1), beat(1)))).toMatchObject({ duplicated: 1 });
  });

  it('may be stored as often as it was sent without a key', () => {
    const one = ledger();
    one.sending(undefined, events(1))('unknown');
    one.sending(undefined, events(1))('unknown');
    expect(one.balance(stored(beat(1), beat(1)))).toMatchObject({ duplicated: 0, strange: 0 });
  });

  it('stays unknown if a later attempt is rejected', () => {
    const one = ledger();
    one.sending('a', events(1))('unknown');
    one.sending('a', events(1))('refused');
    expect(one.balance(stored(beat(1)))).toMatchObject({ strange: 0, duplicated: 0 });
  });

  it('is unknown while its batch is in flight', () => {
    const one = ledger();
    one.sending('a', events(1));
    expect(one.balance(stored(beat(1)))).toMatchObject({ strange: 0, duplicated: 0 });
  });

  it('is settled by one acknowledged attempt, however the others end', () => {
    const one = ledger();
    const first = one.sending('a', events(1));
    const copy = one.sending('a', events(1));
    copy('acknowledged');
    first('refused');
    expect(one.balance(stored(beat(1)))).toMatchObject({ acknowledged: 1, lost: 0, duplicated: 0 });
  });
});

it('an event must not be stored if it was always rejected or never sent', () => {
  const one = ledger();
  one.sending('a', events(1))('refused');
  one.sending('a', events(1))('refused');
  expect(one.balance(stored())).toMatchObject({ lost: 0, strange: 0 });
  expect(one.balance(stored(beat(1), beat(2)))).toMatchObject({ strange: 2 });
});

it('an event may be stored if an earlier run began to send it', () => {
  const one = ledger('carried');
  one.sending('carried', events(1))('acknowledged');
  expect(one.balance(stored())).toMatchObject({ lost: 0 });
  expect(one.balance(stored(beat(1)))).toMatchObject({ strange: 0, duplicated: 0 });
  expect(one.balance(stored(beat(1), beat(1)))).toMatchObject({ duplicated: 1 });
});
