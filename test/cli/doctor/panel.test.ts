// What `signage doctor` says of the reports of the web player.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { item } from '../../support/service/content.ts';
import type { BoundTv, TestService } from '../../support/service/service.ts';
import { type Cli, startCli } from '../run-cli.ts';

const video = item({ creativeType: 'video' });

describe('signage doctor', () => {
  let cli: Cli;
  let service: TestService<Clock>;
  let tv: BoundTv;
  beforeAll(async () => {
    ({ cli, service } = await startCli());
    tv = await service.tv();
    await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: [video] });
  });
  const post = (...events: object[]) =>
    tv.send('POST', 'events', { body: events.map((one) => ({ timestamp: 1, ...one })) });
  const configure = (player: object) =>
    service.manage('PUT', `/v1/screens/${tv.screenId}/config`, { player });
  async function findings() {
    const { json } = await cli(['doctor', tv.screenId, '-o', 'json']);
    const checks = ['panel', 'codec', 'storage', 'sound', 'rotate'];
    return json
      .filter(({ check }: { check: string }) => checks.includes(check))
      .map(({ check, status, detail }: Record<string, string>) => `${status} ${check}: ${detail}`);
  }

  it('says nothing of a panel without a report', async () => {
    await configure({ sound: true });
    expect(await findings()).toEqual([]);
  });

  it('names engine, size and codecs', async () => {
    const size = { width: 3840, height: 2160 };
    const codecs = { plays: ['h264', 'vp9'], lacks: ['hevc', 'vvc'] };
    await post({ type: 'player_report', engine: 'Chromium 94', ...size, ...codecs });
    expect(await findings()).toEqual([
      expect.stringMatching(
        /^ok panel: Chromium 94 on 3840 × 2160 pixels plays H.264, VP9, not HEVC, vvc\. Its player started at .* Open \/player#check on it to try more\.$/,
      ),
    ]);
  });

  it('names what disturbs the playlist: codecs, storage and sound', async () => {
    const found = { keepsStorage: false, sound: false, checkedAt: 1 };
    await post(
      { type: 'playback_error', creativeId: video.creativeId, reason: 'codec' },
      { type: 'player_report', plays: ['h264'], lacks: ['hevc'], ...found },
    );
    const [panel, ...others] = await findings();
    expect(panel).toMatch(/Its browser plays H.264, not HEVC\. .* was tried by \/player#check at /);
    expect(others).toEqual([
      expect.stringContaining('warn codec: A video cannot be decoded, and the TV plays no HEVC.'),
      expect.stringContaining('warn storage: '),
      expect.stringContaining('warn sound: '),
    ]);
  });

  it.each([
    [{}, 90, /^warn rotate: Nobody has seen yet .* Prefer the setting of the panel itself\.$/],
    [{ turnsVideos: false }, 90, /^warn rotate: Somebody saw .* do not turn .* Prefer/],
    [{ turnsVideos: true }, 90, undefined],
    [{}, 0, undefined],
  ])('with the answer %j and player.rotate %d says %s', async (answer, rotate, text) => {
    // Earlier versions stored any settings.
    await configure({ rotate });
    await post({ type: 'player_report', ...answer });
    const rotation = (await findings()).filter((one: string) => one.includes(' rotate: '));
    expect(rotation).toEqual(text ? [expect.stringMatching(text)] : []);
  });
});
