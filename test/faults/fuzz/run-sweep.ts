import { Client } from 'undici';
import { type Operation, operations } from '../../../src/wire/operations.ts';
import { describedAnswers } from '../../support/described-answers.ts';
import type { Composed } from './compose-request.ts';
import { Fixture } from './fixture.ts';
import { Grower, guid, type Schema } from './grow-json.ts';
import { nastyTexts } from './nasty-values.ts';
import { probe } from './probe.ts';
import { FuzzRandom } from './random.ts';
import type { FuzzOptions } from './run-fuzz.ts';
import { eachSpoilt } from './spoil-json.ts';

/** Includes all optional members, and reaches no limit. */
class FullDice extends FuzzRandom {
  override happens(probability: number): boolean {
    return probability >= 0.5;
  }
}

const codeStep = 50;

/** Puts every invalid value into every place of every body and every parameter, one at a time. */
export async function runSweep({
  service,
  adminToken,
  seed,
  only,
}: Omit<FuzzOptions, 'requests' | 'clock'>): Promise<{ requests: number; wrong: string[] }> {
  const document: Schema = (await service.send('GET', '/openapi.json')).body;
  const documented = describedAnswers(document);
  const world = new Fixture(service, adminToken);
  const grower = new Grower(document, (name, fuzzRandom) => world.idFor(name, fuzzRandom));
  const fuzzRandom = new FullDice(seed);
  const client = new Client(service.url, { pipelining: 1, bodyTimeout: 0, headersTimeout: 0 });
  const run = { requests: 0, wrong: [] as string[] };

  async function send(
    id: string,
    operation: Operation,
    query: string,
    body?: string,
  ): Promise<void> {
    if (run.requests % codeStep === 0) await world.renew();
    const template = operation.path.replace(/:(\w+)/g, '{$1}');
    const tv = fuzzRandom.one(world.known.tvs);
    const isOfTv = operation.access === 'device';
    const named = isOfTv ? tv.screenId : world.idInPath(operation.path, fuzzRandom);
    const headers: Composed['headers'] = [
      ['authorization', `Bearer ${isOfTv ? tv.apiKey : world.platformToken}`],
      ['x-forwarded-for', guid(fuzzRandom).replace(/^(.{4})(.{4}).*$/, '2001:db8:$1:$2::1')],
      ...(isOfTv ? [] : [['x-tenant-id', world.tenantId] as [string, string]]),
      ...(body === undefined ? [] : [['content-type', 'application/json'] as [string, string]]),
    ];
    const path = `${operation.path.replace(/:\w+/, named)}${query}`;
    const found = await probe(
      client,
      {
        method: operation.method,
        path,
        headers,
        body,
        described: { operation: id, path: template },
      },
      documented,
    );
    run.requests++;
    run.wrong.push(...(found?.wrong ?? []));
  }

  for (const [id, operation] of Object.entries<Operation>(operations).filter(
    ([name]) => only?.includes(name) ?? true,
  )) {
    await world.renew();
    const { requestBody, parameters = [] } =
      document.paths[operation.path.replace(/:(\w+)/g, '{$1}')][operation.method.toLowerCase()];
    const good =
      requestBody && grower.grow(requestBody.content['application/json'].schema, fuzzRandom);
    for (const body of good === undefined ? [] : eachSpoilt(good))
      await send(id, operation, '', body);
    for (const { name } of parameters.filter((one: Schema) => one.in === 'query'))
      for (const text of nastyTexts)
        await send(
          id,
          operation,
          `?${name}=${encodeURIComponent(text.toWellFormed())}`,
          good === undefined ? undefined : JSON.stringify(good),
        );
  }
  await client.close();
  return run;
}
