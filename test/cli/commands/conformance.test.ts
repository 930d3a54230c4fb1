import { describe, expect, it } from 'vitest';
import { serveWithDefect } from '../../support/stores/seeded-defects.ts';
import { cliOf, runCli, startCli } from '../run-cli.ts';

describe('signage conformance', () => {
  it('0 when every row passes, with symbol, id and section of each row', async () => {
    const { cli } = await startCli();
    const { code, stdout, stderr } = await cli('conformance --row events.4 --row config.500');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^RESULT +ID +LEVEL +SECTION +TITLE +NOTE\n/);
    expect(stdout).toMatch(
      /^✓ +events\.400\.0 +required +§2\.5 +POST \/devices\/:id\/events: 400 for no events +-$/m,
    );
    expect(stdout).toMatch(/^– +config\.500 .* cannot be provoked from outside$/m);
    expect(stdout).not.toContain('✗');
    expect(stderr).toMatch(/^\d+ rows passed, 0 failed, 1 were skipped\.\n$/);
  });

  it('9 when a row fails, with the expected and the seen value', async () => {
    const planted = await serveWithDefect('counts received off by one');
    const cli = cliOf(planted, planted.adminToken);
    const table = await cli(['conformance', '--row', 'events.received']);
    expect(table.code).toBe(9);
    expect(table.stdout).toMatch(/^✗ +events\.received\.3 .* expected 3, saw 4$/m);
    expect(table.stderr).toContain('0 rows passed, 3 failed, 0 were skipped.');
    const terminal = { tty: true, columns: 80 };
    const narrow = await cli(['conformance', '--row', 'events.received.3'], terminal);
    expect(narrow.stdout).toMatch(/✗\S* +events\.received\.3 .*…$/m);
    expect(narrow.stderr).toContain('✗ events.received.3: expected 3, saw 4\n');
    const json = await cli(['conformance', '--row', 'events.received.3', '-o', 'json'], terminal);
    expect(json.stderr).not.toContain('✗');
    expect(json.code).toBe(9);
    expect(json.json).toEqual([
      {
        ...{
          id: 'events.received.3',
          level: 'required',
          section: '2.5',
          result: 'fail',
          expected: '3',
          seen: '4',
          reason: null,
        },
        title: 'POST /devices/:id/events: received is the count of 3 events',
      },
    ]);
    const junit = await cli(['conformance', '--row', 'events.received.3', '-o', 'junit']);
    expect(junit.code).toBe(9);
    expect(junit.stdout).toContain('<testsuite name="signage" tests="1" failures="1" skipped="0">');
    expect(junit.stdout).toContain('><failure message="expected 3, saw 4"/></testcase>');
    expect(
      (await cli(['conformance', '--row', 'events.400.0', '-o', 'ndjson'])).ndjson,
    ).toHaveLength(2);
    const csv = await cli('conformance --only required --row events.received -o csv');
    expect(csv.stdout.split('\r\n').slice(0, 2)).toEqual([
      'result,id,level,section,title,expected,seen,reason',
      'fail,events.received.1,required,2.5,POST /devices/:id/events: received is the count of 1 event,1,2,',
    ]);
  });

  it('--verbose shows each request, and no secret', async () => {
    const { cli } = await startCli();
    const { stderr } = await cli(['conformance', '--row', 'code', '--verbose']);
    expect(stderr).toContain('POST /v1/devices/provisioning-codes → 201');
    expect(stderr).toContain('GET /v1/devices/provisioning-codes/…/status → 200');
    expect(stderr).not.toMatch(/provisioning-codes\/[A-Z0-9]{8}/);
  });

  it('4 for an insufficient token or none', async () => {
    const { service, as } = await startCli();
    const viewer = await (await as('viewer'))(['conformance']);
    expect(viewer.code).toBe(4);
    expect(viewer.stderr).toContain('operator or better');
    expect((await runCli(['conformance', '--url', service.url])).code).toBe(4);
    expect((await service.manage('GET', '/v1/venues')).body.items).toEqual([]);
  });

  it('7 when no service is reachable', async () => {
    const { code, stderr } = await runCli(['conformance', '--url', 'http://127.0.0.1:9'], {
      env: { SIGNAGE_TOKEN: 'mak_x' },
    });
    expect(code).toBe(7);
    expect(stderr).toContain('127.0.0.1:9');
  });

  it('130 at Ctrl-C, after printing the finished rows and removing its records', async () => {
    const { service, cli } = await startCli();
    const { code, stdout } = await cli(['conformance', '-o', 'ndjson', '--verbose'], {
      during: async (io) => {
        await io.until(/\/playlist → 200/);
        io.signal('SIGINT');
      },
    });
    expect(code).toBe(130);
    expect(stdout).toContain('"register.201"');
    expect(stdout).not.toContain('"report.campaign"');
    expect((await service.manage('GET', '/v1/venues')).body.items).toEqual([]);
    expect((await service.manage('GET', '/v1/devices')).body.items).toEqual([]);
  });
});
