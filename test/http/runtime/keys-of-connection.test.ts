import { describe, expect, it } from 'vitest';
import { type BoundTv, startService } from '../../support/service.ts';
import { wireRequest } from '../../support/wire-request.ts';

describe('device keys on one connection', () => {
  it('are checked for every request, also after another key', async () => {
    const service = await startService();
    const one = await service.tv();
    const other = await service.tv();
    const statusOf = async (tv: BoundTv, apiKey?: string) => {
      const headers = [
        'Host',
        'signage.example',
        ...(apiKey === undefined ? [] : ['Authorization', `Bearer ${apiKey}`]),
      ];
      const { status, text } = await wireRequest(service.url, {
        method: 'GET',
        path: `/devices/${tv.screenId}/config`,
        headers,
      });
      return [status, JSON.parse(text).code];
    };
    for (const tv of [one, one, other, one])
      expect(await statusOf(tv, tv.apiKey)).toEqual([200, undefined]);
    expect(await statusOf(one, other.apiKey)).toEqual([401, 'device_key_mismatch']);
    expect(await statusOf(one)).toEqual([401, 'device_key_missing']);
    expect(await statusOf(one, `${one.apiKey}x`)).toEqual([401, 'device_key_invalid']);
    expect(await statusOf(one, `${one.apiKey}x`)).toEqual([401, 'device_key_invalid']);
    expect(await statusOf(one, one.apiKey)).toEqual([200, undefined]);
    expect((await service.manage('POST', `/v1/devices/${one.deviceId}/revoke`, {})).status).toBe(
      200,
    );
    expect(await statusOf(one, one.apiKey)).toEqual([401, 'device_key_revoked']);
    expect(await statusOf(other, other.apiKey)).toEqual([200, undefined]);
  });
});
