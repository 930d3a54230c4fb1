import { dayMs } from '../../../src/domain/clock.ts';
import { batchSums } from '../../../src/domain/events/batch-counts.ts';
import type { TelemetryEvent } from '../../../src/domain/events/event.ts';
import { type ReportClock, reportClocks } from '../../../src/domain/records/report.ts';
import { playRecord, type Records } from '../../../src/store/dump/records.ts';
import { countPlays, placeText, sortedCells } from '../../../src/store/plays.ts';
import { shortHash } from '../../../src/store/short-hash.ts';
import { guid } from '../../store/sample-batch.ts';
import type { BoundTv } from './fleet.ts';

/** Each TV has sent one batch of impressions on each of the last days. */
export interface HistorySize {
  days: number;
  eventsPerBatch: number;
}

/** Number of different batches on a day. */
const variants = 100;
const campaigns = 20;
const creatives = 50;
/** Items of a playlist, which a TV plays in turn. */
const loop = 10;

interface Sample {
  events: TelemetryEvent[];
  body: string;
}

/** Events of a fleet, as a dump has them. */
export class FleetHistory {
  readonly #tvs: readonly BoundTv[];
  readonly #size: HistorySize;
  readonly #firstDayMs: number;

  constructor(tvs: readonly BoundTv[], size: HistorySize, nowMs: number) {
    this.#tvs = tvs;
    this.#size = size;
    this.#firstDayMs = Math.floor(nowMs / dayMs) * dayMs - size.days * dayMs;
  }

  get end(): Records['server']['log'] {
    const { days } = this.#size;
    return {
      seq: days * this.#tvs.length,
      receivedAt: days === 0 ? 0 : this.#at(days - 1, this.#tvs.length - 1),
    };
  }

  *batches(): Generator<Records['batches']> {
    let seq = 1;
    for (let day = 0; day < this.#size.days; day++) {
      const samples = this.#samplesOf(day);
      for (const [n, { tenantId, venueId, screenId, deviceId }] of this.#tvs.entries()) {
        const { body } = samples[n % variants] as Sample;
        yield {
          seq: seq++,
          receivedAt: this.#at(day, n),
          tenantId,
          venueId,
          screenId,
          deviceId,
          offsets: [0],
          body,
        };
      }
    }
  }

  *keys(): Generator<Records['idempotency']> {
    for (const { deviceId } of this.#tvs) {
      const keys = Array.from({ length: this.#size.days }, (_, day): [string, string] => {
        return [shortHash(`${deviceId} ${day}`), shortHash(`sent ${deviceId} ${day}`)];
      });
      if (keys.length > 0) yield { deviceId, keys };
    }
  }

  *plays(): Generator<Records['plays']> {
    for (const clock of reportClocks) {
      for (let day = 0; day < this.#size.days; day++) yield* this.#playsOf(clock, day);
    }
  }

  *#playsOf(clock: ReportClock, day: number): Generator<Records['plays']> {
    const samples = this.#samplesOf(day);
    const places: [text: string, record: Records['plays']][] = [];
    for (const [n, tv] of this.#tvs.entries()) {
      const { events } = samples[n % variants] as Sample;
      const { tenantId, venueId, screenId } = tv;
      for (const one of countPlays(batchSums(events, [0]), this.#at(day, n))) {
        if (one.clock !== clock) continue;
        const place = { ...one, tenantId, venueId, screenId, simulated: false };
        places.push([placeText(place), playRecord(place, sortedCells(one.cells))]);
      }
    }
    for (const [, record] of places.sort(([one], [other]) => (one < other ? -1 : 1))) yield record;
  }

  #at(day: number, n: number): number {
    return this.#firstDayMs + day * dayMs + Math.floor((n / this.#tvs.length) * dayMs);
  }

  #samplesOf(day: number): Sample[] {
    const noon = (this.#firstDayMs + day * dayMs + dayMs / 2) / 1000;
    return Array.from({ length: variants }, (_, variant) => {
      const events = Array.from({ length: this.#size.eventsPerBatch }, (_, n): TelemetryEvent => {
        const creative = (variant + (n % loop)) % creatives;
        return {
          type: 'impression',
          timestamp: noon + n * 15,
          playlistId: guid('play', variant),
          creativeId: guid('crea', creative),
          campaignId: guid('camp', creative % campaigns),
          duration: 15,
        };
      });
      return { events, body: JSON.stringify(events) };
    });
  }
}
