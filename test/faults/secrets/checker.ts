import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { LogSink } from '../../../src/domain/log.ts';
import type { ServeOptions } from '../../../src/serve/serve-options.ts';
import type { Running } from '../../../src/serve.ts';
import { serve } from '../../../src/serve.ts';
import { s3Bucket, s3Credentials, startS3Server } from '../../support/network/s3-server.ts';
import { type StubService, stubService } from '../../support/network/stub-service.ts';
import { item } from '../../support/service/content.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { runScenario } from './scenario.ts';
import { Sentinels } from './sentinels.ts';

/** A text that was written, shown or sent. */
export interface Place {
  where: string;
  contents: string | Buffer;
}

export interface Search {
  places: number;
  bytes: number;
  secrets: number;
  /** Secrets in places where they must not be. */
  found: string[];
}

export interface SearchOptions {
  /** Location and final contents of the store. */
  store: string;
  contents(): Promise<Place[]>;
  /** More secrets by name. */
  secrets?: Record<string, string>;
  /** Number of misplaced secrets. Default: all. */
  misplaced?: number;
  /** Replaces `serve`. */
  start?: (options?: ServeOptions) => Promise<Running>;
  /** Additional steps. Returns their output. */
  also?: (service: TestService, sentinels: Sentinels) => Promise<Place[]>;
}

/** Returns a log that records everything, with the properties of all objects. */
function capturingLog(): { log: LogSink; said: Place } {
  const said = { where: 'the log', contents: '' };
  const say = (fields: object, message: string) => {
    said.contents += `${message} ${inspect(fields, { depth: 12, showHidden: true })}\n`;
  };
  return { log: { debug: say, info: say, warn: say, error: say }, said };
}

/** Returns all files of a folder. */
export async function filesIn(folder: string): Promise<Place[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    files.map(async (file) => ({
      where: file,
      contents: Buffer.concat([Buffer.from(`${file}\n`), await readFile(file)]),
    })),
  );
}

/** Starts an on-demand source that echoes its requests. */
function tellingSource(): Promise<StubService> {
  return stubService((response, { headers }) => {
    const isOver = heard++ > 3;
    response.writeHead(isOver ? 500 : 200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(
        isOver
          ? { error: `You sent ${headers.authorization}` }
          : { items: [item({ duration: heard })] },
      ),
    );
  });
}
let heard = 0;

/** Failures outside the service that reveal secrets in their errors. */
async function failAround(service: TestService): Promise<Place[]> {
  const tv = await service.tv();
  const answers: Place[] = [];
  for (let time = 0; time < 3; time++) {
    await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, {
      items: [item({ duration: 100 + time })],
    });
    const { text, headers } = await tv.send('GET', 'playlist');
    answers.push({
      where: 'a playlist while others fail',
      contents: `${text} ${[...headers].join(' ')}`,
    });
    service.clock.advance(30_000);
  }
  const mirror = await service.manage('GET', '/v1/mirror');
  const ready = await service.send('GET', '/readyz?verbose');
  await service.manage('POST', `/v1/devices/${tv.deviceId}/revoke`);
  return [
    ...answers,
    { where: 'the mirror', contents: mirror.text },
    { where: '/readyz', contents: ready.text },
  ];
}

/** Returns all pages of the log of requests. */
async function listedRequests(service: TestService): Promise<string> {
  const pages: string[] = [];
  let cursor = '';
  do {
    const { text, body } = await service.manage('GET', `/v1/requests?limit=200${cursor}`);
    if (body.items.length === 0) throw new Error('A page of /v1/requests is empty.');
    pages.push(text);
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
  } while (cursor !== '');
  return pages.join('\n');
}

/** Runs a scenario with secrets, and searches everything that was written, shown or sent. */
export async function searchSecrets({
  store,
  contents,
  secrets = {},
  start = serve,
  also,
  misplaced,
}: SearchOptions): Promise<Search> {
  const sentinels = new Sentinels();
  for (const [name, secret] of Object.entries(secrets)) sentinels.add(name, secret);
  const { log, said } = capturingLog();
  const objects = await startS3Server();
  heard = 0;
  const source = await tellingSource();
  const [metricsToken, onDemandToken] = ['canary-of-the-metrics-3b7e', 'canary-of-the-source-91aa'];
  sentinels.add('the metrics token', metricsToken);
  sentinels.add('the token of the on-demand source', onDemandToken);
  sentinels.add('the secret of the object store', s3Credentials.secretAccessKey);
  const onDemand = {
    onDemand: `${source.url}/{screenId}`,
    onDemandToken,
    onDemandTtlSeconds: 0,
  };
  const objectStore = {
    objectStore: `s3://${s3Bucket}/copies?endpoint=${objects.endpoint}`,
    aws: s3Credentials,
  };
  const service = await startService(
    { store, log, metricsToken, ...onDemand, ...objectStore },
    start,
  );
  const { answers, metrics, audit } = await runScenario(service, sentinels, misplaced);
  objects.fault = () => ({
    status: 403,
    body: `<Error><Code>AccessDenied</Code><Message>${s3Credentials.accessKeyId}</Message></Error>`,
  });
  const around = await failAround(service);
  const backup = await service.manage('POST', '/v1/backup');
  const more = (await also?.(service, sentinels)) ?? [];
  const events = await service.manage('GET', '/v1/events?limit=200');
  const requests = await listedRequests(service);
  await service.close();
  const places: Place[] = [
    ...[
      said,
      { where: 'the metrics', contents: metrics },
      { where: 'the audit trail', contents: audit },
      ...around,
      ...more,
    ],
    ...answers.map(({ text, headers }) => ({
      where: 'an answer',
      contents: `${text} ${[...headers].join(' ')}`,
    })),
    ...[
      { where: 'a backup', contents: backup.text },
      { where: 'the events', contents: events.text },
      { where: 'the requests of TVs', contents: requests },
    ],
    ...[...objects.objects].map(([key, contents]) => ({
      where: `the copy ${key}`,
      contents: `${key} ${contents}`,
    })),
    ...source.heard.map(({ url, headers }) => ({
      where: 'a request to the source',
      contents: JSON.stringify({ url, ...headers, authorization: '' }),
    })),
    ...(await contents()),
  ];
  await objects.close();
  return searchPlaces(sentinels, places);
}

/** Searches everything for the secrets. */
export function searchPlaces(sentinels: Sentinels, places: readonly Place[]): Search {
  const found = places.flatMap((place) =>
    sentinels.in(place.contents).map((name) => `${name} stands in ${place.where}`),
  );
  return {
    places: places.length,
    bytes: places.reduce((sum, { contents }) => sum + contents.length, 0),
    secrets: sentinels.secrets.length,
    found: [...new Set(found)],
  };
}
