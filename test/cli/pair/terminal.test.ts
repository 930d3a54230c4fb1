// `signage pair` as a person at a terminal sees it, in process.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import { terminalScreen } from '../../support/process/terminal-screen.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { item } from '../../support/service/content.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { type Person, sitDown as sitDownAt } from '../terminal/sit-down.ts';
import { playOn, registerTv } from './paired-tv.ts';

let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
});

const sitDown = (
  argv: readonly string[],
  { url = service.url, env, ...person }: Person & { url?: string } = {},
) => sitDownAt(argv, { ...person, env: { SIGNAGE_URL: url, SIGNAGE_TOKEN: adminToken, ...env } });

/** The newest code on the screen. */
async function codeOn(io: FakeIo): Promise<string> {
  await io.until(/Code [A-Z2-9]{4}-[A-Z2-9]{4}/);
  const codes = io.err().match(/Code [A-Z2-9]{4}-[A-Z2-9]{4}/g);
  return (codes?.at(-1) ?? '').slice(5).replace('-', '');
}

const register = (code: string) => registerTv(service.url, code);

/** A screen, by default without a playlist. */
async function place(name = 'Main', { items = [] as object[] } = {}) {
  const venue = await service.venue();
  const screen = await service.screen({ venueId: venue.id, name });
  if (items.length > 0) await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, { items });
  return { venue, screen, name: `${venue.name}/${name}` };
}

describe('signage pair at a terminal, for an installer', () => {
  const installer = async () => ({ SIGNAGE_TOKEN: await service.token('installer') });

  it('0 with a paired TV when only an operator can publish its playlist', async () => {
    const { name } = await place();
    const { io, ended, seen } = await sitDown(['pair', name], { env: await installer() });
    await (await register(await codeOn(io))).missPlaylist();
    expect(await ended).toBe(0);
    const text = seen().join('\n');
    expect(text).toContain(`paired ✓ ${name} · Samsung QM55B`);
    expect(io.err()).toContain(
      `The TV on "${name}" is paired, but shows nothing yet. The screen has`,
    );
    expect(io.err()).toContain(`operator, admin or platform to run: signage show '${name}' FILE`);
    expect(text).not.toContain('then to send');
  });

  it('0 for all screens of a venue, with a note for each', async () => {
    const { venue, name } = await place();
    const argv = ['pair', '--venue', venue.name, '--all'];
    const { io, ended, seen } = await sitDown(argv, { env: await installer() });
    const large = /this code on the TV of "Main"/;
    await io.until(large);
    const row = seen().find((one) => one.startsWith('› Main'));
    const code = row?.match(/[A-Z2-9]{4}-[A-Z2-9]{4}/)?.[0] ?? '';
    await (await register(code.replace('-', ''))).missPlaylist();
    expect(await ended).toBe(0);
    expect(io.err()).toContain(`The TV on "${name}" is paired, but shows nothing yet.`);
  });

  it('names the screen when a wait with --wait-for is stopped', async () => {
    const { name } = await place();
    const argv = ['pair', name, '--wait-for', 'playlist'];
    const { io, interrupt } = await sitDown(argv, { env: await installer() });
    await (await register(await codeOn(io))).missPlaylist();
    await io.until(
      /installer may not publish one\. Ask[\s\S]*somebody with the role operator, admin or platform/,
    );
    await interrupt();
    expect(io.err()).toContain(`To check it: signage doctor '${name}'`);
  });
});

describe('signage pair at a terminal, prompts', () => {
  it('creates venue and screen, shows the code, and confirms the pairing', async () => {
    const { io, answer, ended, seen } = await sitDown(['pair']);
    await place();
    await answer(/New venue …/, 'Harbour');
    await answer(/\+ New venue "Harbour"/, '\r');
    await answer(/Name of the screen in "Harbour":/, 'Left\r');
    await io.until(/waiting for the TV to register/);
    expect(seen().join('\n')).not.toContain('paired ✓');
    const code = await codeOn(io);
    expect(seen().join('\n')).toMatch(/[█▀▄]{3}/);
    const tv = await register(code);
    await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
    await tv.fetchPlaylist();
    await tv.sendEvent();
    expect(await ended).toBe(0);
    expect(seen().join('\n')).toMatch(
      /✓ the TV registered\n✓ the TV fetched its playlist\n✓ the TV sent its first event\n\npaired ✓ Harbour\/Left · Samsung QM55B · 2\.3\.1, Tizen 6\.5/,
    );
    expect(seen().join('\n')).not.toContain('Code ');
    const [screen, device, ...rest] = terminalScreen(io.out());
    expect(screen).toMatch(/^Screen +Harbour\/Left$/);
    expect(device).toMatch(/^Device +[0-9a-f-]{36}$/);
    expect(rest).toEqual(['Model    Samsung QM55B', 'Version  2.3.1, Tizen 6.5']);
  });

  it.each([
    [[], 1],
    [['--no-bell'], 0],
  ])('%j: rings %i times when the TV is paired', async (more, count) => {
    const { screen } = await place('Main', { items: [item()] });
    const { io, ended } = await sitDown(['pair', screen.id, ...more]);
    const code = await codeOn(io);
    expect(io.err()).not.toContain('\u0007');
    await playOn(service.url, code);
    expect(await ended).toBe(0);
    expect(io.err().split('\u0007').length - 1).toBe(count);
  });

  it('offers an installer no new records; 4 if there are none', async () => {
    const { name } = await service.venue({ name: 'Empty hall' });
    const env = { SIGNAGE_TOKEN: await service.token('installer') };
    const refused = await sitDown(['pair', '--venue', name], { env });
    expect(await refused.ended).toBe(4);
    expect(refused.io.err()).toContain('operator, admin or platform');
    const asked = await sitDown(['pair'], { env });
    await asked.answer(/❯ /, '\u0003');
    expect(await asked.ended).toBe(130);
    expect(asked.io.err()).not.toContain('New venue');
  });

  it('takes the name of a venue, asks for its screen, and says how to filter', async () => {
    const { venue } = await place('Only one');
    const { io, ended, seen } = await sitDown(['pair', venue.name]);
    await io.until(/1 screen/);
    expect(seen().slice(1)).toEqual([
      '❯ Only one',
      '  + New screen …',
      '',
      'Type to filter or to make a new one · 1 screen',
    ]);
    io.type('\u0003');
    expect(await ended).toBe(130);
  });

  it('shows the nearest name for a mistyped one, and asks whether to create it', async () => {
    await service.venue({ name: 'Observatory' });
    const { answer, ended, io } = await sitDown(['pair', 'Observatroy/Dome']);
    await answer(/There is no venue "Observatroy"\. Create it\?.*y\/N/, '\r');
    expect(await ended).toBe(5);
    expect(io.err()).toContain('Did you mean "Observatory"?');
    const { items } = (await service.manage('GET', '/v1/venues?name=Observatroy')).body;
    expect(items).toEqual([]);
  });

  it('offers to revoke the current TV, and records the reason', async () => {
    const tv = await service.tv();
    const { answer, ended, io } = await sitDown(['pair', tv.screenId, '--wait-for', 'registered']);
    await answer(/Revoke it and pair another/, 'y\r');
    await answer(/Reason \(recorded/, 'Panel is broken\r');
    await register(await codeOn(io));
    expect(await ended).toBe(0);
    expect((await service.manage('GET', `/v1/devices/${tv.deviceId}`)).body).toMatchObject({
      state: 'suspended',
      suspendReason: 'Panel is broken',
    });
  });
});

describe('signage pair at a terminal, live view', () => {
  it('Ctrl-C takes the code away, and says what stands', async () => {
    const { name, screen } = await place();
    const { io, seen, interrupt } = await sitDown(['pair', screen.id]);
    const code = await codeOn(io);
    await interrupt();
    expect(
      (await service.manage('GET', `/v1/devices/provisioning-codes/${code}/status`)).body.status,
    ).toBe('cancelled');
    expect(seen().join('')).toBe(
      `The code ${code.slice(0, 4)}-${code.slice(4)} was cancelled. "${name}" has no TV yet. To pair one: signage pair '${name}'`,
    );
  });

  it.each([30, 10])(
    'fits into %i columns',
    async (columns) => {
      const { screen } = await place('A screen with quite a long name, up the stairs, 大堂的屏幕');
      const { io, interrupt } = await sitDown(['pair', screen.id], { size: { columns, rows: 40 } });
      await io.until(columns < 15 ? /Code [A-Z2-9]{3}/ : /Code [A-Z2-9]{4}-[A-Z2-9]{4}/);
      const { default: width } = await import('string-width');
      const drawn = io.err();
      for (const line of drawn.split('\n'))
        expect(width(line.replaceAll('\r', ''))).toBeLessThan(columns);
      if (columns >= 30) expect(drawn).toMatch(/[█▀▄]{3}/);
      await interrupt();
    },
    30_000,
  );

  it('redraws when the terminal is resized, and leaves nothing behind', async () => {
    const { name, screen } = await place();
    const { io, resize, interrupt } = await sitDown(['pair', screen.id]);
    await codeOn(io);
    const before = io.err().length;
    resize(40, 24);
    const after = io.err().slice(before);
    // At 40 columns the view took more rows. All of them are cleared.
    const wide = terminalScreen(io.err().slice(0, before)).map((line) => [...line].length);
    const rows = wide.reduce((sum, one) => sum + Math.max(1, Math.ceil(one / 40)), 0);
    expect(JSON.stringify(after.slice(0, 12))).toContain(`[${rows}A`);
    expect(terminalScreen(after, 40).join('\n')).toContain(name);
    resize(80, 6);
    expect(
      io
        .err()
        .slice(before + after.length)
        .split('\n').length,
    ).toBeLessThanOrEqual(6);
    await interrupt();
  });

  it.each([
    [{}, true],
    [{ NO_COLOR: '1' }, false],
  ])('with %j its colours are %s', async (env, coloured) => {
    const { screen } = await place();
    const { io, interrupt } = await sitDown(['pair', screen.id, '--qr'], {
      env: env as Record<string, string>,
    });
    await codeOn(io);
    await interrupt();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of it
    expect(/\u001b\[[0-9;]*m/.test(io.err())).toBe(coloured);
  });

  it.each([
    ['in the live view', []],
    ['without the live view', ['--verbose']],
  ])('--qr shows the whole address of the web player %s', async (_, more) => {
    const { screen } = await place();
    const { sees, interrupt } = await sitDown(['pair', screen.id, '--qr', ...more]);
    await sees(new RegExp(`^In a browser instead: ${service.url}/player#[A-Z2-9]{8}$`, 'm'));
    await interrupt();
  });

  it('counts down, and follows the code that replaces an expired one', async () => {
    const clock = new ManualClock();
    const own = await startService({ clock });
    const screen = await own.screen({ name: 'Main' });
    const argv = ['pair', screen.id, '--wait-for', 'registered'];
    const { io, ended, seen } = await sitDown(argv, { clock, url: own.url });
    const first = await codeOn(io);
    expect(seen().join('\n')).toContain('15:00 left');
    clock.advance(1000);
    expect(seen().join('\n')).toContain('14:59 left');
    const later = async () => {
      clock.advance(5000);
      return codeOn(io);
    };
    // A request has 30 s of this clock until its time-out: 120 ms.
    await expect.poll(later, { interval: 20, timeout: 30_000 }).not.toBe(first);
    // At a terminal there is no default timeout.
    expect(seen().join('\n')).toMatch(/1[45]:\d\d left/);
    const ticking = setInterval(() => clock.advance(1000), 5);
    await registerTv(own.url, await codeOn(io));
    expect(await ended).toBe(0);
    clearInterval(ticking);
  });

  it('reports an unreachable service, and continues when it answers', async () => {
    const own = await startService<Clock>({ clock: systemClock });
    const screen = await own.screen({ name: 'Main' });
    const { io, interrupt } = await sitDown(['pair', screen.id, '--wait-for', 'registered'], {
      url: own.url,
    });
    await codeOn(io);
    await own.close();
    await io.until(/does not answer\. Retrying/, 15_000);
    await interrupt();
    expect(io.err()).toContain('could not be cancelled');
  }, 30_000);

  it('--verbose prints requests instead of the live view, and still the code', async () => {
    const { screen } = await place();
    const { io, interrupt } = await sitDown(['pair', screen.id, '--verbose']);
    const [text = ''] = await Promise.all([io.until(/\n?code +\S.*([A-Z2-9]{8})/)]);
    expect(io.err()).toContain('POST /v1/devices/provisioning-codes → 201');
    await interrupt();
    // Requests mask the code, because it is a secret.
    expect(io.err().match(/provisioning-codes\/[A-Z2-9]{8}/)).toBeNull();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: moves the cursor up
    expect(text + io.err()).not.toMatch(/\u001b\[\d+A/);
  });

  it('wraps the current problem in 40 columns', async () => {
    const { screen } = await place('Main');
    const { io, seen, interrupt } = await sitDown(['pair', screen.id], {
      size: { columns: 40, rows: 30 },
    });
    await (await register(await codeOn(io))).missPlaylist();
    await io.until(/no playlist yet/);
    expect(seen().join(' ')).toMatch(
      /The screen has no playlist yet\. +Publish one: +signage +show +'?Venue/,
    );
    await interrupt();
    expect(io.err()).toContain('has not fetched its playlist yet');
  });

  it('--qr --verbose prints the QR code in its own colours', async () => {
    const { screen } = await place();
    const { io, interrupt } = await sitDown(['pair', screen.id, '--qr', '--verbose']);
    await io.until(/signage:\/\/pair/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of it
    expect(io.err()).toMatch(/\u001b\[40m\u001b\[97m[█▀▄ ]{30,}\u001b\[39m\u001b\[49m\n/);
    await interrupt();
  });

  it.each([
    [{ columns: 80, rows: 24 }, /^[█▀▄ ]{37} {3}.*Code/m],
    [{ columns: 40, rows: 40 }, /^[█▀▄ ]{37}$/m],
    [{ columns: 80, rows: 50 }, /^(?:[█▀▄ ]{37}\n){19}/m],
    [{ columns: 30, rows: 24 }, /Enlarge the window/],
  ])('--qr in %j', async (size, looks) => {
    const { screen } = await place();
    const { io, seen, interrupt } = await sitDown(['pair', screen.id, '--qr'], {
      size,
      env: { NO_COLOR: '1' },
    });
    await codeOn(io);
    expect(seen().join('\n')).toMatch(looks);
    expect(io.err()).toContain('only this machine can reach');
    await interrupt();
  });
});
