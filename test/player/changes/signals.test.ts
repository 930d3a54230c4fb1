// A TV that is identified or reloaded (docs/protocol.md §2.9).
import { describe, expect, it } from 'vitest';
import { dayMs, minuteMs, secondMs } from '../../../src/domain/clock.ts';
import type { PlayerObserver, TvIdentity } from '../../../src/player/observer.ts';
import { runTv, type TimedService } from '../timed-service.ts';

const startSeconds = 1_790_000_000;
const names = { name: 'Main', venue: { name: 'Lobby' } };

/** Identifies the TV until a time, in seconds since the start. */
function identifyUntil(service: TimedService, atSeconds: number): void {
  service.signals = { identifyUntil: startSeconds + atSeconds, screen: names };
  service.signalTag = ` i${atSeconds}`;
}

function endSignals(service: TimedService): void {
  service.signals = {};
}

/** Notes what the TV draws, with the seconds since the start of the service. */
function drawer() {
  const drawn: string[] = [];
  let service: TimedService | undefined;
  const observer: PlayerObserver = {
    onIdentify(identity: TvIdentity | undefined) {
      const words = identity ? Object.values(identity).join(' ') : '-';
      drawn.push(`${Math.round((service?.nowMs ?? 0) / 1000)} ${words}`);
    },
  };
  return {
    drawn,
    observer,
    watch: (one: TimedService) => {
      service = one;
    },
  };
}

const timesOf = (drawn: readonly string[]) => drawn.map((one) => Number(one.split(' ')[0]));
type Step = (service: TimedService, at: (seconds: number, step: () => void) => void) => void;

async function identifiedTv(
  forMs: number,
  prepare: Step,
  more: { aheadMs?: number; hasObserver?: boolean } = {},
) {
  const { drawn, observer, watch } = drawer();
  const { aheadMs = 0, hasObserver = true } = more;
  const options = { aheadMs, ...(hasObserver && { observer }) };
  const tv = await runTv(
    forMs,
    (service, at) => {
      watch(service);
      service.itemSeconds = 100;
      prepare(service, at);
    },
    options,
  );
  const ofType = (type: string) => tv.events.filter((event) => event.type === type);
  return { ...tv, drawn, ofType };
}

describe('A player that is identified', () => {
  it.each([
    ['right', 0],
    ['20 years ahead', 7305 * dayMs],
    ['20 years behind', -7305 * dayMs],
  ])('draws who it is until the end, with a clock that is %s', async (_, aheadMs) => {
    const { drawn, ofType } = await identifiedTv(
      3 * minuteMs,
      (service, at) => {
        at(30, () => identifyUntil(service, 90));
        at(90, () => endSignals(service));
      },
      { aheadMs },
    );
    // The saved TV has the device id "device".
    expect(drawn).toEqual(['30 Lobby Main vice', '90 -']);
    expect(ofType('identified')).toMatchObject([{ identifyUntil: startSeconds + 90 }]);
  });

  it('counts only the part of a play that was seen', async () => {
    const { ofType } = await identifiedTv(310_000, (service, at) => {
      at(130, () => identifyUntil(service, 170));
      at(170, () => endSignals(service));
    });
    const plays = ofType('impression').map(({ duration, plannedDuration }) => ({
      duration: Math.round(Number(duration)),
      plannedDuration,
    }));
    expect(plays.slice(0, 3)).toEqual([
      { duration: 100, plannedDuration: 100 },
      { duration: 60, plannedDuration: 100 },
      { duration: 100, plannedDuration: 100 },
    ]);
  });

  it('reports no play of an item that was covered all the time, and goes on', async () => {
    const { ofType, shown } = await identifiedTv(310_000, (service, at) => {
      at(50, () => identifyUntil(service, 250));
      at(250, () => endSignals(service));
    });
    const durations = ofType('impression').map(({ duration }) => Math.round(Number(duration)));
    expect(durations).toEqual([50, 50, 10]);
    expect(shown).toHaveLength(5);
  });

  it('stops as soon as an answer does not have it any more', async () => {
    const { drawn } = await identifiedTv(3 * minuteMs, (service, at) => {
      at(30, () => identifyUntil(service, 600));
      at(60, () => {
        endSignals(service);
        service.signalTag = ' off';
      });
    });
    expect(timesOf(drawn)).toEqual([30, 60]);
  });

  it('goes on without an interruption, and reports again, when the time is extended', async () => {
    const { drawn, ofType } = await identifiedTv(4 * minuteMs, (service, at) => {
      at(30, () => identifyUntil(service, 60));
      at(50, () => identifyUntil(service, 120));
      at(120, () => endSignals(service));
    });
    expect(timesOf(drawn)).toEqual([30, 120]);
    expect(ofType('identified')).toHaveLength(2);
  });

  it('draws for 10 minutes at most, and nothing for a time that is no time', async () => {
    const { drawn } = await identifiedTv(20 * minuteMs, (service, at) => {
      at(30, () => identifyUntil(service, 1e9));
      let isAnswered = false;
      service.onAsk = async (ask, signal) => {
        if (isAnswered) await service.sleep(1e9, signal);
        const reply = await service.hold(ask, signal);
        isAnswered = service.signalTag !== '';
        return reply;
      };
    });
    expect(timesOf(drawn).slice(0, 2)).toEqual([30, 630]);
    for (const until of ['soon', null, -1, 0]) {
      const odd = await identifiedTv(minuteMs, (service) => {
        service.signals = { identifyUntil: until };
      });
      expect(odd.drawn).toEqual([]);
    }
  });

  it('draws nothing for an old answer that a lost connection delivers late', async () => {
    const { drawn, ofType, service } = await identifiedTv(4 * minuteMs, (service, at) => {
      at(30, () => identifyUntil(service, 45));
      let isLost = true;
      service.onAsk = async (ask, signal) => {
        const reply = await service.hold(ask, signal);
        if (!isLost || service.signalTag === '') return reply;
        isLost = false;
        const date = new Date(startSeconds * 1000 + service.nowMs).toUTCString();
        await service.sleep(20 * secondMs, signal);
        endSignals(service);
        return { ...reply, headers: { date } };
      };
    });
    expect(drawn).toEqual([]);
    expect(ofType('identified')).toEqual([]);
    // It asked at once what holds now.
    expect(service.asks.filter(({ after }) => after === null)).toHaveLength(2);
  });

  it('draws what still holds after such an answer, for the rest of the time', async () => {
    const { drawn } = await identifiedTv(4 * minuteMs, (service, at) => {
      at(30, () => identifyUntil(service, 100));
      let isLost = true;
      service.onAsk = async (ask, signal) => {
        const reply = await service.hold(ask, signal);
        if (!isLost || service.signalTag === '') return reply;
        isLost = false;
        const date = new Date(startSeconds * 1000 + service.nowMs).toUTCString();
        await service.sleep(15 * secondMs, signal);
        return { ...reply, headers: { date } };
      };
      at(100, () => endSignals(service));
    });
    expect(timesOf(drawn)).toEqual([45, 100]);
  });

  it('asks no more often than before, whatever an intermediary makes of Date', async () => {
    const { service } = await identifiedTv(10 * minuteMs, (service) => {
      service.onAsk = async (ask, signal) => ({
        ...(await service.hold(ask, signal)),
        headers: { date: new Date(0).toUTCString() },
      });
    });
    expect(service.asks.length).toBeLessThan(35);
  });

  it('says nothing while nobody can see it, and says it as soon as somebody can', async () => {
    const { drawn, observer, watch } = drawer();
    const { events } = await runTv(
      3 * minuteMs,
      (service, at, player) => {
        watch(service);
        at(10, () => player.setHidden(true));
        at(30, () => identifyUntil(service, 90));
        at(60, () => player.setHidden(false));
        at(90, () => endSignals(service));
      },
      { observer },
    );
    expect(timesOf(drawn)).toEqual([30, 90]);
    const reported = events.filter(({ type }) => type === 'identified');
    expect(reported.map(({ timestamp }) => timestamp - startSeconds)).toEqual([60]);
  });

  it('ignores it without a callback that draws', async () => {
    const { ofType } = await identifiedTv(
      3 * minuteMs,
      (service, at) => at(30, () => identifyUntil(service, 90)),
      { hasObserver: false },
    );
    expect(ofType('identified')).toEqual([]);
    expect(ofType('impression').map(({ duration }) => Math.round(Number(duration)))).toEqual([
      100, 80,
    ]);
  });
});

describe('A player that is to be reloaded', () => {
  const setReload = (service: TimedService, reloadId: string | undefined) => {
    service.signals = reloadId === undefined ? {} : { reloadId };
    service.signalTag = ` r${reloadId}`;
  };

  async function reloads(prepare: Step): Promise<string[]> {
    const asked: string[] = [];
    await runTv(4 * minuteMs, prepare, { observer: { onReload: (id) => asked.push(id) } });
    return asked;
  }

  it('obeys each reload that comes while it runs, once', async () => {
    const asked = await reloads((service, at) => {
      at(30, () => setReload(service, 'one'));
      at(100, () => setReload(service, 'two'));
      at(150, () => setReload(service, undefined));
    });
    expect(asked).toEqual(['one', 'two']);
  });

  it('adopts the reload of its first answer, and obeys the next one', async () => {
    const asked = await reloads((service, at) => {
      setReload(service, 'old');
      at(100, () => setReload(service, 'new'));
    });
    expect(asked).toEqual(['new']);
  });

  it('names the reload in its first app_started only', async () => {
    const { events } = await runTv(minuteMs, () => {}, { reloadId: 'one' });
    expect(events.find(({ type }) => type === 'app_started')).toMatchObject({ reloadId: 'one' });
    const plain = await runTv(minuteMs, () => {});
    expect(plain.events.find(({ type }) => type === 'app_started')).not.toHaveProperty('reloadId');
  });
});
