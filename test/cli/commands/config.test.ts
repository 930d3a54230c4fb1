import { describe, expect, it } from 'vitest';
import { startCli } from '../run-cli.ts';

describe('signage config set', () => {
  it('loses no setting of concurrent commands', async () => {
    const { service, cli } = await startCli();
    const { id } = await service.screen({ name: 'Main' });
    const stored = async () => (await service.manage('GET', `/v1/screens/${id}/config`)).body;
    const runs = await Promise.all(
      Array.from({ length: 8 }, (_, n) => cli(['config', 'set', 'Main', `setting${n}=${n}`])),
    );
    expect(runs.map(({ code }) => code)).toEqual(runs.map(() => 0));
    const settings = Array.from({ length: 8 }, (_, n) => [`setting${n}`, n]);
    expect(await stored()).toEqual(Object.fromEntries(settings));
    await Promise.all(
      [0, 1, 2, 3].map((n) => cli(['config', 'unset', 'Main', '--key', `setting${n}`])),
    );
    expect(await stored()).toEqual(Object.fromEntries(settings.slice(4)));
  });
});
