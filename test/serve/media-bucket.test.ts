// The whole service with its media in a bucket of S3.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LogSink } from '../../src/domain/log.ts';
import { serve } from '../../src/serve.ts';
import {
  type S3Server,
  s3Bucket,
  s3Credentials,
  startS3Server,
} from '../support/network/s3-server.ts';
import { expectProblem, manager } from '../support/service/management.ts';
import { idOf, someFile, upload, uploadPart } from '../support/service/media.ts';
import { startService, type TestService } from '../support/service/service.ts';

const partBytes = 256 * 1024;
const file = someFile(1, 2 * partBytes + 1000);
const id = idOf(file);
let said = '';
const note = (...what: unknown[]) => {
  said += JSON.stringify(what, (_, value) => (value instanceof Error ? `${value}` : value));
};
const log = { debug: note, info: note, warn: note, error: note } as LogSink;
let server: S3Server;
let service: TestService;

beforeAll(async () => {
  server = await startS3Server();
  const media = `s3://${s3Bucket}/media?endpoint=${server.endpoint}`;
  service = await startService({ media, aws: s3Credentials, log });
});
afterAll(() => service.close());

describe('serve with media in a bucket', () => {
  it('takes a file in parts, and sends it whole and in ranges', async () => {
    const caller = manager(service);
    expect((await uploadPart(caller, file, 0, partBytes)).body).toEqual({ received: partBytes });
    await uploadPart(caller, file, partBytes, 2 * partBytes);
    expect((await uploadPart(caller, file, 2 * partBytes, file.length)).status).toBe(201);
    expect([...server.objects.keys()]).toEqual([`media/${id}`]);
    const url = `${service.url}/media/${id}.svg`;
    const whole = await fetch(url);
    expect(Buffer.from(await whole.arrayBuffer()).equals(file)).toBe(true);
    const range = await fetch(url, { headers: { range: 'bytes=300000-300099' } });
    expect([range.status, range.headers.get('content-range')]).toEqual([
      206,
      `bytes 300000-300099/${file.length}`,
    ]);
    expect(Buffer.from(await range.arrayBuffer()).equals(file.subarray(300_000, 300_100))).toBe(
      true,
    );
  });

  it('keeps nothing of a file with other bytes or of no known type', async () => {
    const other = someFile(2);
    const answer = await upload(manager(service), other, '', { body: someFile(3) });
    expectProblem(answer, 'digest_mismatch');
    expectProblem(await upload(manager(service), Buffer.from('x')), 'media_not_accepted');
    expect([...server.objects.keys()]).toEqual([`media/${id}`]);
  });

  it('answers 503 while the bucket refuses, and logs why without secrets', async () => {
    const other = someFile(4);
    server.fault = () => ({ status: 403, body: '<Error><Code>AccessDenied</Code></Error>' });
    expectProblem(await upload(manager(service), other), 'unavailable');
    expect((await fetch(`${service.url}/media/${id}.svg`)).status).toBe(503);
    expect(said).toContain('403 AccessDenied');
    expect(said).not.toContain(s3Credentials.secretAccessKey);
    server.fault = () => undefined;
    expect((await upload(manager(service), other)).status).toBe(201);
  });

  it('refuses a limit for files that a bucket cannot keep', async () => {
    const media = `s3://${s3Bucket}?endpoint=${server.endpoint}`;
    const options = { store: 'memory:', media, aws: s3Credentials, mediaLimitMiB: 5121 };
    await expect(serve(options)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('5120'),
    });
  });
});
