import fc from 'fast-check';
import { Client } from 'undici';
import type { ServeOptions } from '../../../src/serve/serve-options.ts';
import { DriftingClock } from '../../support/runtime/drifting-clock.ts';
import { describedAnswers } from '../../support/service/described-answers.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { Fixture } from './fixture.ts';
import { probe } from './probe.ts';
import { type FuzzRequest, requestsTo } from './requests.ts';

/** A service under test. */
export interface Subject {
  service: Pick<TestService, 'send' | 'url'>;
  clock: DriftingClock;
  adminToken: string;
}

export interface FuzzRun {
  requests: number;
  /** Number of answers by status. */
  statuses: Map<number, number>;
  /** Distinct answers: operation, and code or status. */
  kinds: Set<string>;
  /** Operations that succeeded at least once. */
  succeeded: Set<string>;
  /** Violations. */
  wrong: string[];
}

interface FuzzOptions extends Subject {
  /** Determines everything except the order of concurrent requests. */
  seed: number;
  requests: number;
  /** Operations to call. Default: all. */
  only?: readonly string[];
}

/** The fixture is recreated after this many requests. */
const worldLasts = 250;
/** Time of the clock for each request, so that codes expire, and sources are forgotten. */
const stepMs = 2_000;

/** Sends valid, almost valid and invalid requests, and checks each answer. */
export async function runFuzz({
  service,
  clock,
  adminToken: token,
  seed,
  requests,
  only,
}: FuzzOptions): Promise<FuzzRun> {
  const { body: document } = await service.send('GET', '/openapi.json');
  const documented = describedAnswers(document);
  const world = new Fixture(service, token, document);
  const run: FuzzRun = {
    ...{ requests: 0, statuses: new Map(), kinds: new Set(), succeeded: new Set() },
    wrong: [],
  };

  async function one(client: Client, request: FuzzRequest): Promise<void> {
    clock.drift(stepMs);
    const found = await probe(client, request, documented);
    if (!found) return;
    run.requests++;
    run.kinds.add(found.kind);
    run.wrong.push(...found.wrong);
    if (found.status === undefined) return;
    run.statuses.set(found.status, (run.statuses.get(found.status) ?? 0) + 1);
    if (found.status < 300 && request.described) run.succeeded.add(request.described.operation);
  }

  for (let done = 0; done < requests; done += worldLasts) {
    await world.renew();
    const numRuns = Math.min(worldLasts, requests - done);
    const left = fc.sample(requestsTo(world, only), { seed: seed + done, numRuns });
    // New connections, because the service may be closing those that were idle (RFC 9112 §9.3.1).
    const options = { bodyTimeout: 0, headersTimeout: 0 };
    const clients = [1, 2, 3, 4].map(() => new Client(service.url, options));
    const work = async (client: Client) => {
      for (let next = left.pop(); next; next = left.pop()) await one(client, next);
    };
    await Promise.all(clients.map(work));
    await Promise.all(clients.map((client) => client.destroy()));
  }
  return run;
}

/**
 * Runs `work` with a service of its own that trusts this machine as a proxy, so that requests can
 * have many sources.
 */
export async function withFuzzed<T>(
  options: ServeOptions,
  work: (subject: Subject) => Promise<T>,
): Promise<T> {
  const clock = new DriftingClock();
  const service = await startService({ clock, trustProxy: ['127.0.0.1'], ...options });
  try {
    return await work({ service, clock, adminToken });
  } finally {
    await service.close();
  }
}
