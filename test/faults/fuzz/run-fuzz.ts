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
  /** Determines everything except the order of concurrent requests. */
  seed: string;
  requests: number;
  connections?: number;
  /** Operations to call. Default: all. */
  only?: readonly string[];
}

export interface FuzzRun {
  requests: number;
  /** Number of answers by status. */
  statuses: Map<number, number>;
  /** Number of distinct answers: operation, and code or status. */
  kinds: number;
  /** Violations. */
  wrong: string[];
}

/** The fixture is recreated after this many requests. */
const worldLasts = 250;
/** Time of the service's clock for each request, so that codes expire and sources are forgotten. */
const stepMs = 2_000;

/** Sends valid, almost valid and invalid requests, and checks each answer. */
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
    // New connections, because the service may be closing those that were idle (RFC 9112 §9.3.1).
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
