// `signage tv` as a person at a terminal sees it, in process.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { item } from '../../support/service/content.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { tvPlace } from '../../support/service/tv-place.ts';
import { type Person, sitDown as sitDownAt } from '../terminal/sit-down.ts';

let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
});

const sitDown = (argv: readonly string[], { env, ...person }: Person = {}) =>
  sitDownAt(['tv', ...argv], { ...person, env: { SIGNAGE_URL: service.url, ...env } });

const place = (more: object = {}) =>
  tvPlace(service, [
    item({ creativeUrl: 'https://media.example.com/spring.mp4', ...more }),
    item({ creativeUrl: 'https://media.example.com/fall.mp4', ...more }),
  ]);

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of it
const colours = /\u001b\[[0-9;]*m/g;

describe('signage tv at a terminal', () => {
  it('shows the current and next items, the queue, the config and the last answers', async () => {
    const { code, screenId, device } = await place();
    const { io, seen, interrupt } = await sitDown(['--code', code]);
    await io.until(/events +202/);
    const text = seen().join('\n');
    expect(text).toMatch(/^Samsung QB55C · Tizen 7\.0 · 2\.4\.1 +http:\/\/127\.0\.0\.1:\d+$/m);
    expect(text).toContain(`screen ${screenId}`);
    expect(text).toContain(`device ${(await device()).id}`);
    expect(text).toMatch(/^playing$/m);
    expect(text).toMatch(
      /^▶ spring\.mp4, video, 1 of 2\n {2}[█░]{40} {2}\d of 15 s\n {2}then fall\.mp4 \(15 s\)$/m,
    );
    expect(text).toMatch(/^playlist version 1, 2 items, until \d{4}-\d\d-\d\d \d\d:\d\d UTC$/m);
    expect(text).toMatch(
      /^config {3}sync 5 min, heartbeat 1 min\ncache {4}10 GB, 7 days\nevents {3}0 queued, 2 stored, 0 dropped$/m,
    );
    expect(text).toMatch(
      /^register 201 in \d+ ms, \d s ago\nconfig {3}200 in \d+ ms, \d s ago\nplaylist 200 in .*\n(?:changes {2}200 in .*\n)?events {3}202 in /m,
    );
    // Each redraw replaces the previous one.
    expect(text.match(/^screen /gm)).toHaveLength(1);
    await interrupt();
    expect(seen().join('\n')).toMatch(
      /^Without --state .*\nThe TV has stopped: \d events stored\.$/m,
    );
    expect(io.out()).toBe('');
    expect(io.err()).not.toContain('\u001b[?25l');
    expect(io.err()).not.toContain(code);
  });

  it('shows who it is while it is identified', async () => {
    const { code, screenId, device } = await place();
    const { io, seen, interrupt } = await sitDown(['--code', code]);
    await io.until(/changes +200/);
    await service.manage('POST', '/v1/identify', { screenIds: [screenId], seconds: 60 });
    await io.until(/◉/);
    const drawn = new RegExp(`^◉ .+ / .+ / ${(await device()).id.slice(-4)}$`, 'm');
    expect(seen().join('\n')).toMatch(drawn);
    await interrupt();
  });

  it('shows which entry of the schedule plays, and until when', async () => {
    const { code, screenId } = await place();
    const at = Math.floor(Date.now() / 1000) - 60;
    const items = [item({ creativeUrl: 'https://media.example.com/lunch.mp4' })];
    const entries = [
      { name: 'Lunch', at, until: at + 3600, items },
      { name: 'Dinner', at: at + 3600, until: at + 7200, items },
    ];
    const path = `/v1/screens/${screenId}/schedule`;
    expect((await service.manage('PUT', path, { entries })).status).toBe(200);
    const { io, seen, interrupt } = await sitDown(['--code', code]);
    await io.until(/events +202/);
    const end = new Date((at + 3600) * 1000).toISOString().slice(0, 16).replace('T', ' ');
    expect(seen().join('\n')).toMatch(
      new RegExp(`^playlist version \\d, entry Lunch, 1 item, until ${end} UTC$`, 'm'),
    );
    await interrupt();
  });

  it.each([
    [40, 24],
    [30, 8],
  ])('fits into %i columns and %i rows', async (columns, rows) => {
    const { code } = await place({
      creativeUrl: `https://media.example.com/${'long-'.repeat(40)}.mp4`,
    });
    const { io, frame, resize, interrupt } = await sitDown(['--code', code], {
      size: { columns: 80, rows: 24 },
    });
    await io.until(/events +202/);
    resize(columns, rows);
    const lines = frame().map((line) => line.replaceAll(colours, ''));
    expect(lines.length).toBeLessThan(rows);
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThan(columns);
    expect(lines.join('\n')).toContain('playing');
    await interrupt();
  });

  it.each([
    [{}, true],
    [{ NO_COLOR: '1' }, false],
  ])('with %j its colours are %s', async (env, coloured) => {
    const { code } = await place();
    const { io, interrupt } = await sitDown(['--code', code], {
      env: env as Record<string, string>,
    });
    await io.until(/register 201/);
    await interrupt();
    expect(io.err().search(colours) >= 0).toBe(coloured);
  });

  it('asks for the code, and again when it is rejected, with the reason', async () => {
    const { code } = await place();
    const { io, interrupt } = await sitDown([]);
    await io.until(/This TV is not paired yet\. Pairing code:/);
    io.type('ABCD\r');
    await io.until(/8 letters and digits/);
    io.type('\u0015abcd 2345\r');
    await io.until(/Unknown pairing code.*create a new one\. Pair/s);
    io.type(`${code.slice(0, 4).toLowerCase()}-${code.slice(4)}\r`);
    await io.until(/register 201/);
    await io.until(/playing/);
    await interrupt();
  });

  it('asks for a new code when the key is revoked, and becomes a new TV', async () => {
    const first = await place();
    const { io, interrupt } = await sitDown(['--code', first.code, '--speed', '600']);
    await io.until(/register 201/);
    const { id } = await first.device();
    await service.manage('POST', `/v1/devices/${id}/revoke`);
    await io.until(/signage page|Pairing code:/);
    expect(io.err()).toMatch(/revoked[^\n]*Pairing code:/);
    const { code } = await service.code(first.screenId);
    io.type(`${code}\r`);
    await io.until(/device [0-9a-f-]{36}/);
    while ((await first.device()).id === id) await new Promise(setImmediate);
    await interrupt();
    expect((await first.device()).state).toBe('bound');
  });

  it('130 at Ctrl-C at the prompt', async () => {
    const { io, ended } = await sitDown([]);
    await io.until(/Pairing code:/);
    io.type('\u0003');
    expect(await ended).toBe(130);
  });

  it('--verbose prints lines with all requests, without the code', async () => {
    const { code } = await place();
    const { io, interrupt } = await sitDown(['--code', code, '--verbose']);
    await io.until(/POST \/devices\/[0-9a-f-]+\/events → 202/);
    expect(io.out()).toMatch(/ shows {5}spring\.mp4, video, 15 s\n/);
    expect(io.err()).toMatch(/POST \/devices\/register → 201/);
    await interrupt();
    expect(io.out() + io.err()).not.toContain(code);
    expect(io.out() + io.err()).not.toMatch(/dak_/);
  });
});
