import { describe, expect, it } from 'vitest';
import type { EventQuery } from '../../../src/domain/events/event.ts';
import {
  type ServiceDependencies,
  system,
  type TenantPrincipal,
} from '../../../src/service/context.ts';
import { makeTelemetry } from '../../../src/service/events/telemetry.ts';
import type { EventPageQuery, Slice, StoredEvent } from '../../../src/store/queries.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { turns } from '../../support/runtime/turns.ts';

const principal = { actor: system, tenantId: 't', venueIds: ['v'] } as unknown as TenantPrincipal;
const query: EventQuery = { order: 'asc', limit: 50, after: 'start', waitSeconds: 30 };
const event: StoredEvent = {
  id: 'e',
  deviceId: 'd',
  screenId: 's',
  venueId: 'v',
  receivedAt: 0,
  event: {},
};
const nothingBefore = (next: string): Slice<StoredEvent> => ({ items: [], next });

/** A long poll over a list of pages, of which the last one repeats. */
function follow(pages: Slice<StoredEvent>[], order: EventQuery['order'] = 'asc') {
  const clock = new ManualClock();
  const asked: (string | undefined)[] = [];
  let wake = () => {};
  const store = {
    async events({ after }: EventPageQuery) {
      asked.push(after);
      return pages.length > 1 ? pages.shift() : pages[0];
    },
    watch: (_: string, call: () => void) => {
      wake = call;
      return () => {};
    },
  };
  const answer = makeTelemetry({ store, clock } as unknown as ServiceDependencies).list(
    principal,
    { ...query, order },
    new AbortController().signal,
  );
  return { clock, asked, answer, wake: () => wake() };
}

describe('a long poll for events', () => {
  it('skips pages without a matching event', async () => {
    const { answer, asked } = follow([
      nothingBefore('one'),
      nothingBefore('two'),
      { items: [event], next: null },
    ]);
    expect((await answer).items.map(({ id }) => id)).toEqual(['e']);
    expect(asked).toEqual(['start', 'one', 'two']);
  });

  it('continues from its position after a change', async () => {
    const pages = [nothingBefore('one'), { items: [], next: null }, { items: [event], next: null }];
    const { answer, asked, wake } = follow(pages);
    await turns();
    expect(asked).toEqual(['start', 'one']);
    wake();
    expect((await answer).items).toHaveLength(1);
    expect(asked).toEqual(['start', 'one', 'one']);
  });

  it('starts again from the newest events in descending order', async () => {
    const { answer, asked, wake } = follow(
      [nothingBefore('one'), { items: [], next: null }, { items: [event], next: null }],
      'desc',
    );
    await turns();
    wake();
    expect((await answer).items).toHaveLength(1);
    expect(asked).toEqual(['start', 'one', 'start']);
  });

  it('returns its position when the time is over', async () => {
    const clock = new ManualClock();
    const store = {
      async events() {
        clock.advance(20_000);
        return nothingBefore('on');
      },
      watch: () => () => {},
    };
    const { list } = makeTelemetry({ store, clock } as unknown as ServiceDependencies);
    expect(await list(principal, query, new AbortController().signal)).toEqual({
      items: [],
      nextCursor: 'on',
    });
  });
});
