import { Counter, Gauge, type Registry } from 'prom-client';

/** How far the copies lag behind. `oldestMs` is an epoch time. */
interface MirrorFigures {
  pending: number;
  oldestMs: number | undefined;
  failures: number;
}

/** Adds the metrics of the mirror, which are read when metrics are rendered. */
export function watchMirror(
  register: Registry,
  lag: () => MirrorFigures,
  nowMs: () => number,
): void {
  const registers = [register];
  new Gauge({
    name: 'signage_mirror_pending',
    help: 'Newest playlists and configs that are not yet in the object store.',
    registers,
    collect() {
      this.set(lag().pending);
    },
  });
  new Gauge({
    name: 'signage_mirror_oldest_seconds',
    help: 'How long the oldest of them has been waiting; 0 when none waits.',
    registers,
    collect() {
      const { oldestMs } = lag();
      this.set(oldestMs === undefined ? 0 : Math.max(0, (nowMs() - oldestMs) / 1000));
    },
  });
  new Counter({
    name: 'signage_mirror_failures_total',
    help: 'Failed attempts to write a playlist to the object store.',
    registers,
    collect() {
      this.reset();
      this.inc(lag().failures);
    },
  });
}
