import { Client } from 'undici';
import { type Operation, operations } from '../../../src/wire/operations.ts';
import { describedAnswers } from '../../support/described-answers.ts';
import { Composer, callerKinds } from './compose-request.ts';
import { Fixture } from './fixture.ts';
import { probe } from './probe.ts';
import { FuzzRandom } from './random.ts';
import type { FuzzOptions } from './run-fuzz.ts';

interface CallersRun {
  requests: number;
  /** Operations that succeeded at least once. */
  succeeded: Set<string>;
  wrong: string[];
}

/** The fixture is recreated after this many requests. */
const worldLasts = 40;
/** Time of the service's clock for each request, so that sources are forgotten. */
const stepMs = 20_000;

/**
 * Sends each operation with each kind of credential, `each` times. Most requests are valid, or
 * invalid in one place.
 */
export async function runCallers({
  service,
  clock,
  adminToken,
  seed,
  each,
}: Omit<FuzzOptions, 'requests'> & { each: number }): Promise<CallersRun> {
  const document = (await service.send('GET', '/openapi.json')).body;
  const documented = describedAnswers(document);
  const world = new Fixture(service, adminToken);
  const composer = new Composer(document, world);
  const client = new Client(service.url, { pipelining: 1, bodyTimeout: 0, headersTimeout: 0 });
  const run: CallersRun = { requests: 0, succeeded: new Set(), wrong: [] };

  async function one(id: string, operation: Operation, caller: (typeof callerKinds)[number]) {
    if (run.requests % worldLasts === 0) await world.renew();
    const seeded = `${seed}/${run.requests++}`;
    const request = composer.composeFor(operation, new FuzzRandom(seeded), caller);
    clock.drift(stepMs);
    const found = await probe(client, request, documented);
    if (found?.status !== undefined && found.status < 300) run.succeeded.add(id);
    const complaints = found?.wrong ?? [];
    run.wrong.push(...complaints.map((complaint) => `${seeded} ${caller} ${complaint}`));
  }

  try {
    for (let round = 0; round < each; round++) {
      for (const [id, operation] of Object.entries<Operation>(operations))
        for (const caller of callerKinds) await one(id, operation, caller);
    }
  } finally {
    await client.destroy();
  }
  return run;
}
