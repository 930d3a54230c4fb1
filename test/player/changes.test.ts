import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/domain/clock.ts';
import { connectionError, problem, runTv, shortestPauseMs } from './timed-service.ts';

describe('A player that holds a request for changes', () => {
  it('shows a new version at once', async () => {
    const { service, shown } = await runTv(4 * minuteMs, (service, at) => {
      at(100, () => service.version++);
    });
    expect(shown).toEqual(['0 1', '100 2', '240 -']);
    expect(service.fetchedAt('playlist')).toEqual([0, 100]);
    expect(service.fetchedAt('config')).toEqual([0]);
  });

  it('fetches a new config at once', async () => {
    const { service } = await runTv(4 * minuteMs, (service, at) => {
      at(100, () => {
        service.configTag = '"c2"';
      });
    });
    expect(service.fetchedAt('config')).toEqual([0, 100]);
    expect(service.fetchedAt('playlist')).toEqual([0]);
  });

  it('shows nothing as soon as the playlist is withdrawn', async () => {
    const { shown } = await runTv(4 * minuteMs, (service, at) => {
      at(100, () => {
        service.isWithdrawn = true;
      });
    });
    expect(shown).toEqual(['0 1', '100 -']);
  });

  it('goes on polling', async () => {
    const { service } = await runTv(21 * minuteMs, () => {});
    expect(service.fetchedAt('playlist').map((s) => Math.round(s / 60))).toEqual([
      0, 5, 10, 15, 20,
    ]);
  });

  it('pairs again when the held answer is that its key was revoked', async () => {
    const { unpaired, end } = await runTv(10 * minuteMs, (service, at) => {
      let isRevoked = false;
      at(100, () => {
        isRevoked = true;
        service.version++;
      });
      service.onAsk = async (ask, signal) => {
        const reply = await service.hold(ask, signal);
        return isRevoked ? problem(401, 'device_key_revoked') : reply;
      };
    });
    expect(unpaired).toEqual(['100 revoked']);
    expect(end.reason).toBe('unpaired');
  });

  it('ends the hold when it stops', async () => {
    let aborted = 0;
    const { end, service } = await runTv(30 * secondMs, (service) => {
      service.onAsk = (ask, signal) => {
        signal.addEventListener('abort', () => aborted++);
        return service.hold(ask, signal);
      };
    });
    expect({ end: end.reason, atMs: service.nowMs, aborted }).toEqual({
      end: 'stopped',
      atMs: 30_000,
      aborted: 1,
    });
  });

  it('asks at most once a second, however often the cursor changes', async () => {
    const { service } = await runTv(minuteMs, (service) => {
      service.onAsk = async (ask, signal) => {
        await service.sleep(10, signal);
        service.version++;
        return service.hold(ask, signal);
      };
    });
    expect(service.asks.length).toBeGreaterThan(30);
    expect(service.asks.length).toBeLessThan(65);
  });
});

describe('A player whose holds are hindered', () => {
  it('asks again after 24 hours if the service does not know the endpoint', async () => {
    for (const status of [404, 405, 501]) {
      const { service } = await runTv(dayMs + hourMs, (service) => {
        service.onAsk = async () => problem(status, 'not_found');
      });
      expect(service.asks.map(({ atMs }) => Math.round(atMs / hourMs))).toEqual([0, 24]);
      expect(service.fetchedAt('playlist').length).toBeGreaterThan(290);
    }
  });

  it.each([
    ['cut off at once', () => Promise.reject(connectionError())],
    ['answered by a cache', undefined],
    ['ended by a gateway', () => Promise.resolve({ status: 504 })],
  ])('pauses for one sync interval after three holds that are %s', async (_, answer) => {
    const { service } = await runTv(20 * minuteMs, (service) => {
      service.onAsk = async (ask) => (ask.after === null || !answer ? service.changes() : answer());
    });
    expect(shortestPauseMs(service)).toBeGreaterThanOrEqual(5000);
    // Three requests in each sync interval of 5 minutes.
    expect(service.asks.length).toBeLessThan(16);
    const minutes = service.asks.map(({ atMs }) => Math.floor(atMs / minuteMs));
    expect(minutes.filter((minute) => minute > 0 && minute < 5)).toEqual([]);
    expect(service.fetchedAt('playlist')).toHaveLength(4);
  });

  it('waits for Retry-After after a 503', async () => {
    const { service } = await runTv(5 * minuteMs, (service) => {
      service.onAsk = async () => problem(503, 'unavailable', { 'retry-after': '60' });
    });
    const [first, second] = service.asks.map(({ atMs }) => atMs);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(60 * secondMs);
    expect(service.asks.length).toBeLessThan(6);
  });

  it('misses nothing while it pauses', async () => {
    const { shown } = await runTv(10 * minuteMs, (service, at) => {
      service.onAsk = () => Promise.reject(connectionError());
      at(100, () => service.version++);
    });
    expect(shown).toEqual(['0 1', '300.1 2', '600 -']);
  });
});
