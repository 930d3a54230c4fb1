import { execFile } from 'node:child_process';
import { cp, open, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { stubService } from '../../support/network/stub-service.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { type Cli, cliOf, runCli } from '../run-cli.ts';

let folder: string;
let data: string;
let service: TestService<typeof systemClock>;
let cli: Cli;
beforeAll(async () => {
  folder = await temporaryFolder();
  data = join(folder, 'data');
  service = await startService({ store: data, clock: systemClock });
  cli = cliOf(service, adminToken);
});

const restoreTo = (file: string, into: string, ...more: string[]) =>
  runCli(['data', 'restore', file, '--data', into, '-o', 'json', ...more]);

describe('signage data backup', () => {
  it('writes a file with mode 0600, which signage data restore turns into the same service', async () => {
    const venue = await service.venue({ name: 'Kept' });
    const file = join(folder, 'kept.dump');
    const { code, stdout, stderr } = await cli(['data', 'backup', '--out', file]);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain(`The backup is complete: ${file}`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const into = join(folder, 'copy');
    const restored = await restoreTo(file, into);
    expect(restored.code).toBe(0);
    expect(restored.json).toMatchObject({
      store: into,
      records: expect.any(Number),
    });
    const copy = await startService({ store: into, clock: systemClock });
    expect((await copy.manage('GET', `/v1/venues/${venue.id}`)).body.name).toBe('Kept');
    await copy.close();
  });

  it('compresses a file whose name ends in .gz, and restores it', async () => {
    const file = join(folder, 'small.dump.gz');
    expect((await cli(['data', 'backup', '--out', file])).code).toBe(0);
    expect((await readFile(file)).subarray(0, 2)).toEqual(Buffer.of(0x1f, 0x8b));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await restoreTo(file, join(folder, 'unpacked'))).code).toBe(0);
    await truncate(file, Math.floor((await stat(file)).size / 2));
    const { code, stderr } = await restoreTo(file, join(folder, 'cut'));
    expect([code, stderr]).toEqual([6, expect.stringContaining('damaged or cut short')]);
    expect(await readdir(folder)).not.toContain('cut');
  });

  it('restores a backup of a service on PostgreSQL into a data folder, and into a database', async () => {
    const own = await startService({ store: await freshDatabase(), clock: systemClock });
    const venue = await own.venue({ name: 'Kept' });
    const file = join(folder, 'database.dump');
    expect((await cliOf(own, adminToken)(['data', 'backup', '--out', file])).code).toBe(0);
    await own.close();
    const into = join(folder, 'from-database');
    const database = await freshDatabase();
    expect((await restoreTo(file, into)).code).toBe(0);
    const env = { SIGNAGE_STORE: database };
    const { code, json } = await runCli(['data', 'restore', file, '-o', 'json'], { env });
    expect([code, json.records]).toEqual([0, expect.any(Number)]);
    for (const store of [into, database]) {
      const copy = await startService({ store, clock: systemClock });
      expect((await copy.manage('GET', `/v1/venues/${venue.id}`)).body.name).toBe('Kept');
      await copy.close();
    }
  });

  it('-o sets the format of the result', async () => {
    const file = join(folder, 'monday.dump');
    const { code, json } = await cli(['data', 'backup', '--out', file, '-o', 'json']);
    expect({ code, json }).toEqual({ code: 0, json: { file, bytes: (await stat(file)).size } });
    const other = join(folder, 'sunday.dump');
    const long = await cli(['data', 'backup', '--out', other, '--output', 'json']);
    expect([long.code, long.json.file]).toEqual([0, other]);
  });

  it('4 for a tenant token, and creates no file', async () => {
    const admin = cliOf(service, await service.token('admin'));
    const file = join(folder, 'refused.dump');
    expect((await admin(['data', 'backup', '--out', file])).code).toBe(4);
    expect((await readdir(folder)).filter((name) => name.startsWith('refused'))).toEqual([]);
  });

  it('7 when the connection breaks, and leaves no file', async () => {
    const stub = await stubService((response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('x'.repeat(10_000), () => response.destroy());
    });
    const file = join(folder, 'broken.dump');
    const { code, stderr } = await cliOf(stub, adminToken)(['data', 'backup', '--out', file]);
    expect(code).toBe(7);
    expect(stderr.trim().split('\n').length).toBeLessThan(3);
    expect((await readdir(folder)).filter((name) => name.startsWith('broken'))).toEqual([]);
  });
});

describe('signage data restore', () => {
  const revoked = (what: string, id: string, command: string) => ({
    at: expect.any(String),
    what,
    id,
    reason: 'revoked',
    command,
  });

  it('lists what to revoke again, with the audit trail of the former folder', async () => {
    const own = join(folder, 'own');
    const former = await startService({ store: own, clock: systemClock });
    const [kept, lost, changed, gone] = [
      await former.tv(),
      await former.tv(),
      await former.tv(),
      await former.tv(),
    ];
    const token = (await former.manage('POST', '/v1/tokens', { name: 'Phone', role: 'viewer' }))
      .body;
    const { venueId } = kept;
    const shared = { venueId, uses: 1 };
    const ticket = (await former.manage('POST', '/v1/tickets', shared)).body;
    await former.manage('POST', `/v1/devices/${kept.deviceId}/revoke`, { reason: 'before' });
    const file = join(folder, 'own.dump');
    await cliOf(former, adminToken)(['data', 'backup', '--out', file]);
    await former.manage('POST', `/v1/devices/${lost.deviceId}/revoke`, { reason: 'stolen' });
    await former.manage('DELETE', `/v1/tokens/${token.id}`);
    const rotated = await former.send('POST', `/devices/${changed.screenId}/keys/rotate`, {
      key: changed.apiKey,
    });
    await former.send('GET', `/devices/${changed.screenId}/config`, { key: rotated.body.apiKey });
    await former.manage('DELETE', `/v1/screens/${gone.screenId}?force=true`);
    await former.manage('DELETE', `/v1/tickets/${ticket.id}`);
    const asker = { user: 'alice', host: 'desk' };
    const { code: login } = (await former.send('POST', '/v1/logins', { body: asker })).body;
    const expiresAt = '2099-01-01T00:00:00Z';
    const grant = { name: 'Later', role: 'viewer', expiresAt, allVenues: true };
    const approved = (await former.manage('POST', `/v1/logins/${login}/approve`, grant)).body;
    await former.manage('DELETE', `/v1/tokens/${approved.id}`);
    const later = await former.tv();
    await former.manage('POST', `/v1/devices/${later.deviceId}/revoke`, {
      reason: 'never in the backup',
    });
    // The newest entries are only in the journal.
    const { code, json, stderr } = await restoreTo(file, join(folder, 'undone'), '--audit', own);
    await former.close();
    expect(code).toBe(0);
    expect(json.undone).toEqual([
      revoked('device key', lost.deviceId, `signage device revoke ${lost.deviceId}`),
      revoked('token', token.id, `signage token delete ${token.id}`),
      {
        ...revoked('device key', changed.deviceId, `signage device revoke ${changed.deviceId}`),
        reason: 'replaced',
      },
      revoked('device key', gone.deviceId, `signage device revoke ${gone.deviceId}`),
      revoked('ticket', ticket.id, `signage ticket revoke ${ticket.id}`),
    ]);
    expect(stderr).toContain(
      `was revoked at ${json.undone[0].at} works again. Once the service runs: signage device revoke ${lost.deviceId}`,
    );
    // A TV that kept its previous key recovers by itself. Revoking it would need a visit on site.
    expect(stderr).toContain(
      `was replaced at ${json.undone[2].at} works again, and the service does not know the new one`,
    );
  });

  it('lists tokens of a deleted tenant that work again', async () => {
    const own = join(folder, 'own-tenants');
    const former = await startService({ store: own, clock: systemClock });
    const made = (path: string, body: object, tenantId?: string) =>
      former.manage(
        'POST',
        path,
        body,
        tenantId === undefined ? {} : { headers: { 'x-tenant-id': tenantId } },
      );
    const { id } = (await made('/v1/tenants', { name: 'Gone' })).body;
    const before = (await made('/v1/tokens', { name: 'Before', role: 'admin' }, id)).body;
    const file = join(folder, 'tenants.dump');
    await cliOf(former, adminToken)(['data', 'backup', '--out', file]);
    const after = (await made('/v1/tokens', { name: 'After', role: 'admin' }, id)).body;
    expect((await former.manage('DELETE', `/v1/tenants/${id}`)).status).toBe(204);
    const into = join(folder, 'tenants');
    const { json, stderr } = await restoreTo(file, into, '--audit', own);
    await former.close();
    const command = `signage token delete ${before.id} --tenant ${id}`;
    expect(json.undone).toEqual([
      { at: expect.any(String), what: 'token', id: before.id, reason: 'revoked', command },
    ]);
    expect(stderr).toContain(command);
    expect(stderr).not.toContain(after.id);
    const copy = await startService({ store: into, clock: systemClock });
    const me = () => copy.send('GET', '/v1/me', { key: before.token });
    expect((await me()).status).toBe(200);
    const typed = [...command.split(' ').slice(1), '--yes'];
    expect((await cliOf(copy, adminToken)(typed)).code).toBe(0);
    expect((await me()).status).toBe(401);
    await copy.close();
  });

  it('6 for a truncated backup, with one line on stderr and no folder left', async () => {
    const file = join(folder, 'short.dump');
    await cli(['data', 'backup', '--out', file]);
    await truncate(file, Math.floor((await stat(file)).size / 2));
    const into = join(folder, 'short');
    const { code, stdout, stderr } = await runCli(['data', 'restore', file, '--data', into]);
    expect([code, stdout]).toEqual([6, '']);
    expect(stderr).toMatch(
      /^signage: .*short\.dump cannot be used as a backup: line \d+: it is cut short: it has no line feed\. Nothing was restored\. .+\n$/,
    );
    expect(await readdir(folder)).not.toContain('short');
  });

  it('130 when interrupted, from a file or a pipe, with nothing left', async () => {
    const file = join(folder, 'interrupted.dump');
    await cli(['data', 'backup', '--out', file]);
    const bytes = await readFile(file);
    const pipe = join(folder, 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    // Open for both: neither end waits for the other.
    const writer = await open(pipe, 'r+');
    await writer.write(bytes.subarray(0, bytes.length - 2048));
    const into = join(folder, 'interrupted', 'data');
    const { code, stderr } = await runCli(['data', 'restore', pipe, '--data', into], {
      during: async (io) => {
        await expect.poll(() => readdir(into).catch(() => [])).toContain('restore.unfinished');
        io.signal('SIGINT');
      },
    });
    await writer.close();
    expect([code, stderr]).toEqual([130, '']);
    expect(await readdir(folder)).not.toContain('interrupted');
  });

  it('5 for the folder of a running service', async () => {
    const file = join(folder, 'again.dump');
    await cli(['data', 'backup', '--out', file]);
    const locked = await restoreTo(file, data);
    expect([locked.code, locked.stderr]).toEqual([5, expect.stringContaining('store_locked')]);
  });
});

/** Returns the data folder of a stopped service, and a screen document in it. */
async function stopped() {
  const own = join(await temporaryFolder(), 'data');
  const former = await startService({ store: own, clock: systemClock });
  const venue = await former.venue({ name: 'Kept' });
  await former.tv();
  await former.close();
  const documents = await readdir(join(own, 'documents'));
  const document = join(
    own,
    'documents',
    documents.find((name) => name.startsWith('rows-screens-')) ?? '',
  );
  return { own, venue, document };
}

describe('signage data check', () => {
  it('9 for a damaged folder, listing file and offset', async () => {
    const { own, document } = await stopped();
    await truncate(document, 10);
    const file = document.slice(own.length + 1);
    const { code, json, stderr } = await runCli(['data', 'check', own, '-o', 'json']);
    expect([code, json]).toEqual([
      9,
      [expect.objectContaining({ level: 'damage', file, offset: 0, lost: 0 })],
    ]);
    expect(stderr).toContain(`signage data repair ${own} --into NEW`);
    expect((await runCli(['data', 'check', own])).stdout).toContain(file);
  });

  it('5 for a folder in use, with a hint', async () => {
    const { code, stderr } = await runCli(['data', 'check', data]);
    expect([code, stderr]).toEqual([5, expect.stringContaining('signage data backup')]);
  });
});

describe('signage data repair', () => {
  it('0 when nothing is lost, and the same service starts from the new folder', async () => {
    const { own, venue, document } = await stopped();
    const former = join(await temporaryFolder(), 'former');
    await truncate(document, 10);
    await cp(own, former, { recursive: true });
    const into = join(await temporaryFolder(), 'new');
    const { code, json, stderr } = await runCli(`data repair ${own} --into ${into} -o json`);
    expect(code, stderr).toBe(0);
    expect(json).toEqual([
      {
        level: 'damage',
        section: null,
        file: document.slice(own.length + 1),
        offset: 0,
        lost: 0,
        what: expect.stringContaining('rows are in other files'),
      },
    ]);
    expect(await readFile(document)).toEqual(
      await readFile(join(former, document.slice(own.length + 1))),
    );
    const again = await startService({ store: into, clock: systemClock });
    expect((await again.manage('GET', `/v1/venues/${venue.id}`)).body.name).toBe('Kept');
    expect((await again.manage('GET', '/v1/devices')).body.items).toHaveLength(1);
    await again.close();
  });

  it('9 when records are lost, with their number', async () => {
    const { own } = await stopped();
    await writeFile(join(own, 'secret'), 'x');
    const { code, stderr } = await runCli([
      'data',
      'repair',
      own,
      '--into',
      join(await temporaryFolder(), 'new'),
    ]);
    expect([code, stderr]).toEqual([
      9,
      expect.stringContaining('Records lost: 1. Credentials revoked: 0.'),
    ]);
  });
});
