import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
// @ts-expect-error: it comes without types
import S3rver from 's3rver';
import { afterEach } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { openObjectStore } from '../../../src/origin/object-store/open-object-store.ts';
import { s3Bucket, s3Credentials, startS3Server } from '../../support/s3-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { describeObjectStore } from './contract.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function open(url: string, aws: object) {
  const store = await openObjectStore(url, aws, systemClock);
  opened.push(store);
  return store;
}

describeObjectStore('a folder', {
  open: async () => open(pathToFileURL(join(await temporaryFolder(), 'not yet', 'there')).href, {}),
  knowsConditions: true,
});

for (const knowsConditions of [true, false]) {
  describeObjectStore(
    `S3 that ${knowsConditions ? 'knows' : 'does not know'} conditions, which checks signatures`,
    {
      async open() {
        const server = await startS3Server();
        Object.assign(server, { knowsConditions, pageSize: 3 });
        return open(
          `s3://${s3Bucket}/some/prefix?endpoint=${server.endpoint}&region=eu-central-1`,
          s3Credentials,
        );
      },
      knowsConditions,
    },
  );
}

// It checks no signatures of version 4 and knows no conditions; it is here for being an S3 that
// others wrote: its paths, its errors, its XML.
describeObjectStore('s3rver', {
  async open() {
    const directory = await mkdtemp(join(await temporaryFolder(), 's3rver-'));
    const server = new S3rver({
      address: '127.0.0.1',
      port: 0,
      silent: true,
      directory,
      configureBuckets: [{ name: s3Bucket }],
    });
    const { port } = await server.run();
    const store = await open(`s3://${s3Bucket}/prefix?endpoint=http://127.0.0.1:${port}`, {
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
    });
    opened.push(server);
    return store;
  },
  knowsConditions: false,
});
