import { describe, expect, it } from 'vitest';
import { Ledger } from '../../src/simulator/ledger.ts';

const beat = (timestamp: number) => ({ type: 'heartbeat', timestamp });
const codes = (ledger: Ledger, stored: object[]) => ledger.differences(stored).map((one) => one.code);

function ledgerOf(acknowledged: number[], unsettled: number[] = []): Ledger {
  const ledger = new Ledger();
  ledger.acknowledged(acknowledged.map(beat));
  ledger.unsettled(unsettled.map(beat));
  return ledger;
}

describe('differences', () => {
  it('are none when all that was acknowledged is there, in whatever order and with its members in any', () => {
    expect(codes(ledgerOf([1, 2, 2]), [{ timestamp: 2, type: 'heartbeat' }, beat(1), beat(2)])).toEqual([]);
  });

  it('name what was lost', () => {
    const [lost] = ledgerOf([1, 2, 3]).differences([beat(2)]);
    expect(lost).toMatchObject({ code: 'events_lost', message: expect.stringContaining('2 events') });
  });

  it('name what was stored twice', () => expect(codes(ledgerOf([1]), [beat(1), beat(1)])).toEqual(['events_unexpected']));
  it('name what was altered', () => expect(codes(ledgerOf([1]), [beat(2)])).toEqual(['events_lost', 'events_unexpected']));
  it('leave open what nobody answered for', () => {
    expect(codes(ledgerOf([1], [2, 3]), [beat(1), beat(3)])).toEqual([]);
    expect(codes(ledgerOf([1], [2]), [beat(1), beat(2), beat(2)])).toEqual(['events_unexpected']);
  });
  it('take no open event for a promised one', () => expect(codes(ledgerOf([1], [1]), [beat(1)])).toEqual([]));
  it('can be asked for again', () => {
    const ledger = ledgerOf([1]);
    expect(codes(ledger, [])).toEqual(['events_lost']);
    expect(codes(ledger, [beat(1)])).toEqual([]);
  });
});
