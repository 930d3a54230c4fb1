import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Clock } from '../../../src/domain/clock.ts';
import { inDatabase, type Sql } from '../../support/postgres/in-database.ts';
import { item } from '../../support/service/content.ts';
import type { TestService } from '../../support/service/service.ts';

type Service = TestService<Clock>;
const atOnce = 6;
/** Leaves most of the database's time to the race. */
const lookEveryMs = 5;
const times = <T>(count: number, work: (place: number) => T) =>
  Array.from({ length: count }, (_, place) => work(place));
const pick = (services: readonly Service[], place: number) =>
  services[place % services.length] as Service;

/** Returns screens with more than one bound device, or with working keys of several devices. */
async function doublyBound(sql: Sql): Promise<string[]> {
  const rows = await sql(`
    SELECT screen_id FROM signage.devices WHERE state = 'bound' GROUP BY screen_id HAVING count(*) > 1
    UNION SELECT screen_id FROM signage.device_keys WHERE (row::jsonb ->> 'state') <> 'revoked' GROUP BY screen_id HAVING count(DISTINCT device_id) > 1`);
  return rows.map(({ screen_id }) => screen_id);
}

/** Polls during `work`. Returns everything found. */
async function watched<T>(
  database: string,
  work: () => Promise<T>,
): Promise<{ result: T; doubles: string[]; looks: number }> {
  return inDatabase(database, async (sql) => {
    const found = new Set<string>();
    let looks = 0;
    let over = false;
    const look = async () => {
      while (!over) {
        for (const screen of await doublyBound(sql)) found.add(screen);
        looks++;
        await sleep(lookEveryMs);
      }
    };
    const looking = look();
    const result = await work().finally(() => {
      over = true;
    });
    await looking;
    return { result, doubles: [...found], looks };
  });
}

/** Registers concurrently at all instances. Returns the number of answers by status. */
async function race(
  services: readonly Service[],
  codes: readonly string[],
  racers: number,
  wrong: string[],
): Promise<number> {
  const answers = await Promise.all(
    times(racers, (n) => pick(services, n).register(codes[n % codes.length] as string)),
  );
  const winners = answers.filter(({ status }) => status === 201);
  for (const { status, text } of answers)
    if (status !== 201 && status !== 409 && status !== 410) wrong.push(text);
  for (const { body } of winners) {
    const works = await Promise.all(
      services.map((service) =>
        service.send('GET', `/devices/${body.screenId}/config`, { key: body.apiKey }),
      ),
    );
    for (const { status, text } of works)
      if (status !== 200) wrong.push(`the winner’s key: ${text}`);
  }
  return winners.length;
}

export interface RaceReport {
  /** Number of winners of each race. */
  winners: number[];
  /** Screens that had two active devices at some moment. */
  doubles: string[];
  /** Number of polls of the database. */
  looks: number;
  wrong: string[];
}

/**
 * Races for codes, one screen each: `racers` registrations at all instances share `codesEach`
 * codes.
 */
export async function raceForCodes(
  services: readonly Service[],
  database: string,
  { screens, racers, codesEach = 1 }: { screens: number; racers: number; codesEach?: number },
): Promise<RaceReport> {
  const wrong: string[] = [];
  const turns = pLimit(atOnce);
  const { id: venueId } = await pick(services, 0).venue({ name: randomUUID() });
  const run = async (place: number) => {
    const { id } = await pick(services, place).screen({ venueId, name: randomUUID() });
    const codes = await Promise.all(times(codesEach, (n) => pick(services, place + n).code(id)));
    return race(
      services,
      codes.map(({ code }) => code),
      racers,
      wrong,
    );
  };
  const { result: winners, ...looked } = await watched(database, () =>
    Promise.all(times(screens, (n) => turns(run, n))),
  );
  return { winners, ...looked, wrong };
}

/** Guesses from one address at all instances. Returns the numbers of judged and refused guesses. */
export async function guessEverywhere(
  services: readonly Service[],
  guesses: number,
): Promise<Record<number, number>> {
  const headers = { 'x-forwarded-for': '203.0.113.77' };
  const answers = await Promise.all(
    times(guesses, (n) => pick(services, n).register(`0000${1000 + n}`, { headers })),
  );
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/**
 * Publishes on the same screens at all instances at once, with calls that each name all screens.
 * Returns what is wrong: a call that changed only some screens, a version that was lost or given
 * twice, or a version with the items of another call.
 */
export async function racePublications(
  services: readonly Service[],
  { screens, calls }: { screens: number; calls: number },
): Promise<{ wrong: string[]; published: number }> {
  const [first] = services as [Service];
  const { id: venueId } = await first.venue();
  const limit = pLimit(atOnce);
  const made = await Promise.all(times(screens, () => limit(() => first.screen({ venueId }))));
  const screenIds = made.map(({ id }) => id as string);
  const wrong: string[] = [];
  /** The call that made each version, by screen. */
  const versions = new Map(screenIds.map((id) => [id, new Map<number, string>()]));
  await Promise.all(
    times(calls, async (n) => {
      const creativeId = randomUUID();
      const body = { screenIds, action: 'publish', items: [item({ creativeId })] };
      const answer = await pick(services, n).manage('POST', '/v1/publications', body);
      if (answer.status !== 200) wrong.push(`${answer.status} ${answer.text}`);
      const results = answer.body.results as { screenId: string; version: number }[];
      if (results?.length !== screens) wrong.push(`call ${n} has ${results?.length} results`);
      for (const { screenId, version } of results ?? []) {
        const known = versions.get(screenId);
        if (known?.has(version)) wrong.push(`${screenId} has version ${version} twice`);
        known?.set(version, creativeId);
      }
    }),
  );
  for (const [id, known] of versions) {
    if (known.size !== calls) wrong.push(`${id} has ${known.size} versions`);
    const { body } = await first.manage('GET', `/v1/screens/${id}/playlists?limit=200`);
    for (const { version, items } of body.items)
      if (items[0].creativeId !== known.get(version)) wrong.push(`${id} ${version} is another`);
  }
  return { wrong, published: calls * screens };
}

/**
 * Lets screens of a venue switch to one entry after the other while TVs ask all instances at once.
 * Returns what is wrong: an instance that answers with other bytes, a version that was given twice,
 * or a switch with several versions.
 */
export async function raceSwitches(
  services: readonly Service[],
  { screens, switches }: { screens: number; switches: number },
): Promise<{ wrong: string[]; switched: number }> {
  const [first] = services as [Service];
  const { id: venueId } = await first.venue();
  const limit = pLimit(atOnce);
  const make = async () => first.tv((await first.screen({ venueId })).id);
  const tvs = await Promise.all(times(screens, () => limit(make)));
  const wrong: string[] = [];
  for (const n of times(switches, (index) => index)) {
    const name = `Entry ${n}`;
    const entries = [{ name, at: 0, until: 4_000_000_000, items: [item({ name })] }];
    await first.manage('PUT', `/v1/venues/${venueId}/schedule`, { entries });
    const looks = tvs.flatMap((tv) =>
      services.map((service) =>
        limit(async () => {
          const path = `/devices/${tv.screenId}/playlist`;
          return { tv, answer: await service.send('GET', path, { key: tv.apiKey }) };
        }),
      ),
    );
    const seen = new Map<string, Set<string>>();
    for (const { tv, answer } of await Promise.all(looks)) {
      if (answer.body?.entryId !== name || answer.body.version !== n + 1)
        wrong.push(`${tv.screenId}: ${answer.status} ${answer.text.slice(0, 300)}`);
      const known = seen.get(tv.screenId) ?? new Set();
      seen.set(tv.screenId, known.add(`${answer.headers.get('etag')} ${answer.text}`));
    }
    for (const [id, bytes] of seen)
      if (bytes.size !== 1) wrong.push(`${id} has ${bytes.size} different answers: ${[...bytes]}`);
  }
  return { wrong, switched: screens * switches };
}
