// What is sent over the bare connection to break the service, deceive it or get a second request
// past it.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminToken, startService, type TestService } from '../../support/service.ts';
import type { Aim } from './attack.ts';
import { bodyAttacks } from './body-attacks.ts';
import { framingAttacks } from './framing-attacks.ts';
import { fronted } from './fronted.ts';
import { memberAttacks } from './member-attacks.ts';
import { runAttacks } from './run-attacks.ts';
import { slowClients } from './slow-clients.ts';

let service: TestService;
let aim: Aim;

beforeAll(async () => {
  service = await startService();
  const { screenId, apiKey } = await service.tv();
  aim = { host: new URL(service.url).host, token: adminToken, key: apiKey, screenId };
});

describe('the listener', () => {
  it('refuses what can be read in two ways, and leaves no trace of it', async () => {
    expect(await runAttacks(service.url, aim, framingAttacks(aim))).toEqual([]);
  });
});

describe('bodies', () => {
  it('that are no JSON, too large, too deep or compressed are refused, and leave no trace', async () => {
    expect(await runAttacks(service.url, aim, bodyAttacks(aim))).toEqual([]);
  });
});

describe('members', () => {
  it('that come twice, or are named __proto__, change nothing but what was checked', async () => {
    expect(await memberAttacks(service.url, aim)).toEqual([]);
  });
});

describe('slow clients', () => {
  it('are told 408 and cut off, and hold up nobody', async () => {
    // Looked for as often as ever: were that each few seconds, many would be cut off at once, and
    // hold up everybody else.
    const limits = { headersTimeout: 150, requestTimeout: 300 };
    expect(await fronted({ limits }, (url, at) => slowClients(url, at, 2_000))).toEqual([]);
  });
});
