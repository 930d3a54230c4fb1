import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { scheduleSpans } from '../../src/calendar/schedule-spans.ts';
import { isoMs } from '../../src/domain/clock.ts';
import { entryIdOf } from '../../src/domain/schedule/entry-times.ts';
import { schedule } from '../../src/domain/schedule/schedule.ts';

const folder = fileURLToPath(new URL('../../fixtures/schedules', import.meta.url));
const names = readdirSync(folder).map((file) => file.replace('.json', ''));
const read = (name: string) => JSON.parse(readFileSync(`${folder}/${name}.json`, 'utf8'));
const secondMs = 1000;

describe('fixtures/schedules', () => {
  it('are 30 vectors', () => expect(names).toHaveLength(30));

  it.each(names)('%s: the calendar plays the entry', (name) => {
    const { timezone, schedule: written, at, plays } = read(name);
    // An empty schedule is no body that the service takes.
    const { entries } = name === 'empty' ? { entries: [] } : schedule.parse(written);
    const fromMs = isoMs(at);
    const [span] = scheduleSpans(entries, timezone, { fromMs, untilMs: fromMs + secondMs });
    const entry = entries[span?.place ?? -1];
    expect(entry ? entryIdOf(entry, span?.place ?? 0) : null).toBe(plays);
  });
});
