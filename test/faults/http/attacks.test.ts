// Raw bytes that try to break or deceive the service, or to smuggle a second request.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { type Aim, fronted, runAttacks, slowClients } from './attack.ts';
import { bodyAttacks, framingAttacks } from './raw-attacks.ts';

let service: TestService;
let aim: Aim;

beforeAll(async () => {
  service = await startService();
  const { screenId, apiKey } = await service.tv();
  aim = { host: new URL(service.url).host, token: adminToken, key: apiKey, screenId };
});

describe('the listener', () => {
  it('rejects ambiguous requests without any effect', async () => {
    expect(await runAttacks(service.url, aim, framingAttacks(aim))).toEqual([]);
  });
});

describe('bodies', () => {
  it('that are not JSON, too large, too deep or compressed are rejected without any effect', async () => {
    expect(await runAttacks(service.url, aim, bodyAttacks(aim))).toEqual([]);
  });
});

describe('slow clients', () => {
  it('get 408, are disconnected, and delay no other client', async () => {
    // The default check interval. A shorter one would close many connections at once.
    const limits = { headersTimeout: 150, requestTimeout: 300 };
    expect(await fronted({ limits }, (url, at) => slowClients(url, at, 2_000))).toEqual([]);
  });
});
