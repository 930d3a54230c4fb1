import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { s3Bucket, s3Credentials, startS3Server } from '../../support/network/s3-server.ts';
import { item, recordMaker } from '../../support/service/management.ts';
import { managerAt } from '../../support/service/service.ts';
import { servingInMemory } from './serving.ts';

/** Publishes a playlist on a screen of the running service. */
async function publish(url: string): Promise<void> {
  const management = managerAt(url);
  const screen = await recordMaker(() => management).screen();
  await management.put(`/v1/screens/${screen.id}/playlist`, { items: [item()] });
}

describe('signage serve --object-store', () => {
  it('takes the credentials from the variables of AWS, and never shows them', async () => {
    const server = await startS3Server();
    const object = `s3://${s3Bucket}/copies?endpoint=${server.endpoint}`;
    const { io, url, stop } = await servingInMemory(
      ['--object-store', object, '--log-level', 'debug'],
      {
        AWS_ACCESS_KEY_ID: s3Credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey,
        AWS_REGION: 'eu-west-3',
      },
    );
    await publish(url);
    await expect.poll(() => server.objects.size).toBe(1);
    expect(await stop()).toBe(0);
    for (const secret of [s3Credentials.secretAccessKey, 'Signature='])
      expect(io.out() + io.err()).not.toContain(secret);
  });

  it('is also set by SIGNAGE_OBJECT_STORE', async () => {
    const folder = join(await temporaryFolder(), 'mirror');
    const { url } = await servingInMemory([], { SIGNAGE_OBJECT_STORE: `file://${folder}` });
    await publish(url);
    const names = () => readdir(folder).catch(() => []);
    await expect.poll(names).toHaveLength(1);
  });
});
