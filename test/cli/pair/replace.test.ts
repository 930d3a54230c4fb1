// signage pair --replace.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { item } from '../../support/service/content.ts';
import type { TestService } from '../../support/service/service.ts';
import { type Cli, startCli } from '../run-cli.ts';
import { codeOf, playOn } from './paired-tv.ts';

let cli: Cli;
let as: (role: string) => Promise<Cli>;
let service: TestService<Clock>;
beforeAll(async () => {
  ({ cli, as, service } = await startCli());
});

const get = async (path: string) => (await service.manage('GET', path)).body;

/** Creates a screen with all attributes and a TV. */
async function furnished() {
  const venue = await service.venue();
  const screen = await service.screen({ venueId: venue.id, name: 'Main', labels: { floor: '2' } });
  await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item()] });
  await service.manage('PUT', `/v1/screens/${screen.id}/config`, { syncIntervalMinutes: 7 });
  const tv = await service.tv(screen.id);
  const standing = async () => {
    const { id, labels, name } = await get(`/v1/screens/${screen.id}`);
    return {
      id,
      labels,
      name,
      playlist: await get(`/v1/screens/${screen.id}/playlist`),
      config: await get(`/v1/screens/${screen.id}/config`),
    };
  };
  return { place: `${venue.name}/Main`, screenId: screen.id as string, old: tv, standing };
}

describe('signage pair VENUE/SCREEN --replace', () => {
  it('lets an installer revoke the old TV with the reason and pair another, and changes nothing else', async () => {
    const { place, screenId, old, standing } = await furnished();
    const before = await standing();
    const line = ['pair', place, '--replace', '--reason', 'Panel is broken', '--yes'];
    const run = await (await as('installer'))([...line, '-o', 'ndjson'], {
      during: async (io) => playOn(service.url, await codeOf(io)),
    });
    expect(run.code).toBe(0);
    const steps = ['code', 'registered', 'playlist', 'event', 'paired'];
    expect(run.ndjson.map(({ step }) => step)).toEqual(steps);
    expect(run.stderr).toContain(`The device ${old.deviceId} was revoked: Panel is broken.\n`);
    expect(await get(`/v1/devices/${old.deviceId}`)).toMatchObject({
      state: 'suspended',
      suspendReason: 'Panel is broken',
    });
    expect(await get(`/v1/screens/${screenId}`)).toMatchObject({
      state: 'active',
      deviceId: run.ndjson.at(-1).deviceId,
    });
    expect(await standing()).toEqual(before);
    expect((await old.send('GET', 'playlist')).body.code).toBe('device_key_revoked');
  });

  it('asks first, also for the reason; an empty answer records a default reason', async () => {
    const { place, old } = await furnished();
    const keys = [
      [/Revoke it and pair another TV\?/, 'y\r'],
      [/Reason \(recorded in the audit trail\):/, '\r'],
    ] as const;
    const run = await cli(['pair', place], {
      tty: true,
      keys,
      during: async (io) =>
        playOn(
          service.url,
          (await io.until(/Code [A-Z2-9]{4}-[A-Z2-9]{4}/)).slice(-9).replace('-', ''),
        ),
    });
    expect(run.code).toBe(0);
    expect(run.stderr).toContain(
      `The screen "${place}" already has a TV: a device (${old.deviceId}), online`,
    );
    expect((await get(`/v1/devices/${old.deviceId}`)).suspendReason).toBe(
      'Replaced by another TV (signage pair)',
    );
  });

  it('8 after the timeout: cancels the code and reports what remains', async () => {
    const { place, old, screenId } = await furnished();
    const run = await cli(['pair', place, '--replace', '--timeout', '1s', '-o', 'ndjson']);
    expect(run.code).toBe(8);
    expect(run.stderr).toContain(`the device ${old.deviceId} was revoked`);
    expect(run.stderr).toContain('signage pair');
    expect((await get(`/v1/screens/${screenId}`)).provisioningCode.status).toBe('cancelled');
  });
});
