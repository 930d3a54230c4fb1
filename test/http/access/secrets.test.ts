import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { LogSink } from '../../../src/domain/log.ts';
import { nodeFileSystem } from '../../../src/store/json/disk/file-system.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { runScenario, type Scenario } from '../../faults/secrets/scenario.ts';
import { Sentinels } from '../../faults/secrets/sentinels.ts';
import { heldDisk } from '../../support/disk/faulty-disk.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { impression } from '../../support/service/content.ts';
import { mounted } from '../../support/service/mounted.ts';
import { adminToken, startService } from '../../support/service/service.ts';

/** A log that captures every entry with all nested values. */
function capturingLog() {
  const lines: string[] = [];
  const say = (fields: object, message: string) =>
    void lines.push(`${message} ${inspect(fields, { depth: 12, showHidden: true })}`);
  const log: LogSink = { debug: say, info: say, warn: say, error: say };
  return { log, lines };
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}

const canaries = new Sentinels();
const { log, lines } = capturingLog();
let folder: string;
let story: Scenario;
const found = (text: string | Buffer) => canaries.in(text);

beforeAll(async () => {
  folder = await temporaryFolder();
  const service = await startService({ store: folder, log });
  story = await runScenario(service, canaries);
  await service.restart();
  await service.close();
}, 30_000);

describe('secrets', () => {
  it('the scenario completed', () => {
    expect(new Set(story.answers.map(({ status }) => status))).toEqual(
      new Set([200, 201, 202, 204, 400, 401, 404, 405, 409, 410, 415, 429]),
    );
    expect(lines.length).toBeGreaterThan(100);
    expect(story.audit).toContain('device.register');
    expect(story.metrics).toContain('signage_http_requests_total');
    for (const secret of canaries.secrets) expect(found(`x${secret}x`)).not.toEqual([]);
    for (const encoding of ['base64', 'hex', 'utf16le'] as const)
      for (const secret of canaries.secrets)
        expect(
          found(
            Buffer.from(`x${secret}x`, encoding === 'utf16le' ? encoding : 'utf8').toString(
              encoding === 'utf16le' ? 'latin1' : encoding,
            ),
          ),
          secret,
        ).not.toEqual([]);
  });

  it('are only in the responses that issue them', () => {
    for (const { text, headers } of story.answers)
      expect(found(`${text} ${[...headers].join(' ')}`), text).toEqual([]);
  });

  it('are in no line of the log', () => {
    for (const line of lines) expect(found(line), line).toEqual([]);
  });

  it('are neither in the audit trail nor in the metrics', () => {
    expect(found(story.audit)).toEqual([]);
    // Nor are their hashes.
    expect(story.audit).not.toMatch(/[0-9a-f]{64}/);
    expect(found(story.metrics)).toEqual([]);
  });

  it('are in no file of the store, in any encoding', async () => {
    const files = await filesOf(folder);
    expect(files.length).toBeGreaterThan(5);
    for (const file of files) expect(found(await readFile(file)), file).toEqual([]);
  });

  it('the server secret is only in its own file', async () => {
    const secret = (await readFile(join(folder, 'secret'), 'utf8')).trim();
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    for (const file of await filesOf(folder)) {
      if (file !== join(folder, 'secret'))
        expect((await readFile(file, 'latin1')).includes(secret), file).toBe(false);
    }
    expect(lines.join('\n')).not.toContain(secret);
  });

  it('files are readable by their owner only', async () => {
    for (const file of await filesOf(folder))
      expect((await stat(file)).mode & 0o777, file).toBe(0o600);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    for (const entry of entries.filter((one) => one.isDirectory())) {
      expect((await stat(join(entry.parentPath, entry.name))).mode & 0o077, entry.name).toBe(0);
    }
  });

  it('are in no line of the log when the service itself fails', async () => {
    const failure = capturingLog();
    const disk = heldDisk(nodeFileSystem);
    const store = await openStore(await temporaryFolder(), {
      disk,
      onWarning: (message, cause) => failure.log.warn({ err: cause }, message),
    });
    const origins = [{ name: 'store' as const, fetch: () => Promise.reject(new Error('planted')) }];
    const service = await mounted({ store, log: failure.log, origins });
    const tv = await service.tv();
    const { code } = await service.code();
    const key = 'canary-of-the-bad-disk-1';
    const said = [
      await service.send('GET', `/devices/${tv.screenId}/playlist`, { key: tv.apiKey }),
    ];
    disk.failing = true;
    said.push(
      await service.send('POST', '/devices/register', {
        body: { pairingCode: code, deviceInfo: {} },
        headers: { 'idempotency-key': key },
      }),
    );
    said.push(
      await service.send('POST', `/devices/${tv.screenId}/events`, {
        key: tv.apiKey,
        body: [impression()],
        headers: { 'idempotency-key': key },
      }),
    );
    expect(said.map(({ status }) => status)).toEqual([500, 503, 503]);
    const text = [...failure.lines, ...said.map((answer) => answer.text)].join('\n');
    expect(text).toContain('planted');
    for (const secret of [tv.apiKey, code, key, adminToken]) expect(text).not.toContain(secret);
    disk.failing = false;
    await store.close();
  });
});
