import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
// @ts-expect-error: it has no types
import S3rver from 's3rver';
import { afterEach } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { openObjectStore } from '../../../src/origin/object-store/open-object-store.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { s3Bucket, s3Credentials, startS3Server } from '../../support/network/s3-server.ts';
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
  supportsConditions: true,
});

for (const supportsConditions of [true, false]) {
  describeObjectStore(
    `S3 that ${supportsConditions ? 'knows' : 'does not know'} conditions, which checks signatures`,
    {
      async open() {
        const server = await startS3Server();
        Object.assign(server, { supportsConditions, pageSize: 3 });
        return open(
          `s3://${s3Bucket}/some/prefix?endpoint=${server.endpoint}&region=eu-central-1`,
          s3Credentials,
        );
      },
      supportsConditions,
    },
  );
}

// s3rver ignores signatures of version 4 and conditions. It is an independent S3 implementation
// with its own paths, errors and XML.
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
  supportsConditions: false,
});
