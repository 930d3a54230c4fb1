import { Client } from 'undici';
import { describedAnswers } from '../../support/described-answers.ts';
import type { DriftingClock } from '../../support/drifting-clock.ts';
import type { TestService } from '../../support/service.ts';
import { Composer } from './compose-request.ts';
import { Fixture } from './fixture.ts';
import { probe } from './probe.ts';
import { FuzzRandom } from './random.ts';

export interface FuzzOptions {
  service: Pick<TestService, 'send' | 'url'>;
  clock: DriftingClock;
  adminToken: string;
  /** Everything follows from it, but for which requests of several connections come first. */
  seed: string;
  requests: number;
  connections?: number;
  /** The operations that requests are made for; all unless given. */
  only?: readonly string[];
}

export interface FuzzRun {
  requests: number;
  /** How often each status came. */
  statuses: Map<number, number>;
  /** How many kinds of answers there were: operation, and code or status. */
  kinds: number;
  /** A line for each answer that was not as it must be. */
  wrong: string[];
}

/** Every so many requests the world is made anew. */
const worldLasts = 250;
/**
 * Each request takes so long by the service's clock, so that codes end, and sources are forgotten.
 */
const stepMs = 2_000;

/** Sends requests that are good, nearly good and not good at all, and judges each answer. */
export async function runFuzz({
  service,
  clock,
  adminToken,
  seed,
  requests,
  connections = 4,
  only,
}: FuzzOptions): Promise<FuzzRun> {
  const document = (await service.send('GET', '/openapi.json')).body;
  const documented = describedAnswers(document);
  const world = new Fixture(service, adminToken);
  const composer = new Composer(document, world, only);
  const kinds = new Set<string>();
  const run: FuzzRun = { requests: 0, statuses: new Map(), kinds: 0, wrong: [] };
  let next = 0;

  async function one(client: Client, index: number): Promise<void> {
    const request = composer.compose(new FuzzRandom(`${seed}/${index}`));
    clock.drift(stepMs);
    const found = await probe(client, request, documented);
    if (!found) return;
    run.requests++;
    if (found.status !== undefined)
      run.statuses.set(found.status, (run.statuses.get(found.status) ?? 0) + 1);
    kinds.add(found.kind);
    run.wrong.push(...found.wrong.map((complaint) => `${seed}/${index} ${complaint}`));
  }

  while (run.requests < requests) {
    await world.renew();
    const end = Math.min(requests, run.requests + worldLasts);
    // New ones each time: the service may be about to close those that were idle while the world
    // was made (RFC 9112 §9.3.1).
    const clients = Array.from(
      { length: connections },
      () => new Client(service.url, { pipelining: 1, bodyTimeout: 0, headersTimeout: 0 }),
    );
    const work = async (client: Client) => {
      while (run.requests < end) await one(client, next++);
    };
    try {
      await Promise.all(clients.map(work));
    } finally {
      await Promise.all(clients.map((client) => client.destroy()));
    }
  }
  return { ...run, kinds: kinds.size };
}
