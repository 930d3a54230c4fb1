import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { type FakeIo, fakeIo } from '../../support/fake-io.ts';
import { item, recordMaker } from '../../support/management.ts';
import { s3Bucket, s3Credentials, startS3Server } from '../../support/s3-server.ts';
import { managerAt } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const token = 'mak_abcdefghijklmnopqrstuvwxyz';
const aws = {
  AWS_ACCESS_KEY_ID: s3Credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey,
};
let started: { io: FakeIo; code: Promise<number> } | undefined;
afterEach(async () => {
  started?.io.signal('SIGTERM');
  await started?.code;
  started = undefined;
});

function serve(argv: string[], env: Record<string, string> = {}) {
  const io = fakeIo({
    env: { SIGNAGE_ADMIN_TOKEN: token, SIGNAGE_NO_CONTEXT: 'true', ...env },
    isTTY: false,
  });
  return { io, code: main(['serve', '--port', '0', '--store', 'memory', ...argv], io) };
}

/** Publishes a playlist on a screen of the running service. */
async function publish(io: FakeIo): Promise<void> {
  const url = await io.until(/https?:\/\/127\.0\.0\.1:\d+/);
  const management = managerAt(url, token);
  const screen = await recordMaker(() => management).screen();
  await management.put(`/v1/screens/${screen.id}/playlist`, { items: [item()] });
}

describe('signage serve --object-store', () => {
  it('takes the credentials from the variables of AWS, and never shows them', async () => {
    const server = await startS3Server();
    const object = `s3://${s3Bucket}/copies?endpoint=${server.endpoint}`;
    started = serve(['--object-store', object, '--log-level', 'debug'], {
      ...aws,
      AWS_REGION: 'eu-west-3',
    });
    await publish(started.io);
    await expect.poll(() => server.objects.size).toBe(1);
    started.io.signal('SIGTERM');
    expect(await started.code).toBe(0);
    const output = started.io.out() + started.io.err();
    for (const secret of [s3Credentials.secretAccessKey, 'Signature='])
      expect(output).not.toContain(secret);
  });

  it('is also set by SIGNAGE_OBJECT_STORE', async () => {
    const folder = join(await temporaryFolder(), 'mirror');
    started = serve([], { SIGNAGE_OBJECT_STORE: `file://${folder}` });
    await publish(started.io);
    await expect
      .poll(() =>
        readdir(folder).then(
          (names) => names.length,
          () => 0,
        ),
      )
      .toBe(1);
  });

  it.each([
    ['without credentials', `s3://${s3Bucket}`, {}, 'AWS_ACCESS_KEY_ID'],
    [
      'with credentials in the URL',
      's3://AKIA:secretInTheUrl@bucket',
      aws,
      'must not hold credentials',
    ],
    ['with an invalid URL', 'secretInTheUrl', aws, 'must begin with file: or s3:'],
  ])('2 %s, with a hint', async (_, url, env, message) => {
    const { io, code } = serve(['--object-store', url], env);
    expect(await code).toBe(2);
    expect(io.err()).toContain(message);
    expect(io.err()).not.toContain('secretInTheUrl');
  });
});
