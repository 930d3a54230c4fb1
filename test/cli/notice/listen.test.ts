import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startLocally } from '../../support/network/local-server.ts';
import {
  isSignedBy,
  type Receiver,
  startReceiver,
} from '../../support/network/webhook-receiver.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { type Manager, manager } from '../../support/service/management.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { sitDown } from '../terminal/sit-down.ts';

const page = await readFile(new URL('../../../docs/notices.md', import.meta.url), 'utf8');
/** Returns the program of the page that begins with this line. */
function recipe(line: string): string {
  const [, text = ''] = [...page.matchAll(/^```\w+\n(#!.*?)^```$/gms)].find(([, one = '']) =>
    one.startsWith(line),
  ) as RegExpMatchArray;
  return text;
}

let service: TestService;
let admin: Manager;
let folder: string;
beforeEach(async () => {
  service = await startService();
  admin = manager(service);
  folder = await temporaryFolder();
});

/** Starts `signage listen`, and waits until it listens. */
async function listen(args: readonly string[], more: object = {}) {
  const env = { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken, PATH: process.env.PATH ?? '' };
  const person = await sitDown(['listen', ...args], {
    env: { ...env, ...more },
    clock: service.clock,
  });
  await person.io.until(/Ctrl-C ends it/);
  return person;
}

async function program(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  await chmod(path, 0o755);
  return path;
}

/** Pairs a TV and revokes it, which are two notices. */
async function pairAndRevoke(name: string): Promise<void> {
  const { id: venueId } = await admin.venue(`Venue of ${name}`);
  const { id: screenId } = await admin.screen(venueId, name);
  const { code } = (await admin.post('/v1/devices/provisioning-codes', { screenId })).body;
  const registration = { pairingCode: code, deviceInfo: { model: 'x' } };
  const { deviceId } = (await admin.post('/devices/register', registration)).body;
  await admin.post(`/v1/devices/${deviceId}/revoke`, { reason: 'broken' });
}

describe('signage listen --forward-to', () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  const types = () => receiver.received.map(({ body }) => body.type);
  const forward = (more: readonly string[] = []) => listen(['--forward-to', receiver.url, ...more]);

  it('sends the wanted notices in order, signed with the secret that it shows', async () => {
    await pairAndRevoke('Before');
    const person = await forward(['--type', 'device.*', '--type', 'screen.paired']);
    const secret = (await person.io.until(/whsec_[A-Za-z0-9+/=]{32}/)).trim();
    await pairAndRevoke('Main');
    await expect.poll(types).toEqual(['screen.paired', 'device.revoked']);
    const [message] = receiver.received;
    const shown = /whsec_\S+/.exec(secret)?.[0] ?? '';
    expect(message && isSignedBy(message, shown)).toBe(true);
    expect(message?.body.data).toMatchObject({ venue: 'Venue of Main', screen: 'Main' });
    await person.sees(/screen\.paired Venue of Main\/Main: 204\./);
    await person.interrupt();
  });

  it('tries a failed one again before the next, and gives up on a refused one', async () => {
    const person = await forward();
    receiver.answer = (response) => response.writeHead(503).end();
    await pairAndRevoke('Main');
    await person.sees(/screen\.paired .*: 503\. Trying again in [45] s\./);
    expect(types()).toEqual(['screen.paired']);
    receiver.answer = (response) => response.writeHead(400).end();
    service.clock.advance(6000);
    await person.sees(/screen\.paired .*: 400\. It is given up\./);
    await person.sees(/device\.revoked .*: 400\. It is given up\./);
    expect(new Set(receiver.ids()).size).toBe(2);
    await person.interrupt();
  });

  it('goes on where it stopped, with its secret, from a file that only its user can read', async () => {
    const state = join(folder, 'listen.json');
    const first = await forward(['--state', state]);
    await pairAndRevoke('One');
    await expect.poll(() => receiver.received.length).toBe(2);
    await first.sees(/device\.revoked Venue of One/);
    await first.interrupt();
    await pairAndRevoke('Two');
    expect((await stat(state)).mode & 0o777).toBe(0o600);
    const { secret } = JSON.parse(await readFile(state, 'utf8'));
    const second = await forward(['--state', state]);
    await expect.poll(() => receiver.received.length).toBe(4);
    expect(receiver.received[2]?.body.data.screen).toBe('Two');
    expect(isSignedBy(receiver.received[3]!, secret)).toBe(true);
    await second.interrupt();
    await writeFile(state, '{', { mode: 0o600 });
    const broken = await sitDown(['listen', '--forward-to', receiver.url, '--state', state], {
      env: { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken },
    });
    expect(await broken.ended).not.toBe(0);
    expect(broken.io.err()).toContain('is damaged');
  });
});

describe('signage listen --exec', () => {
  it('runs a program with the notice on stdin and in its environment', async () => {
    const out = join(folder, 'out');
    const script = await program(
      'tell.sh',
      `#!/bin/sh\n[ "$SIGNAGE_NOTICE_TYPE" = screen.paired ] || exit 0\ncat > '${out}.part'\nprintf '%s/%s' "$SIGNAGE_NOTICE_VENUE" "$SIGNAGE_NOTICE_SCREEN" >> '${out}.part'\nmv '${out}.part' '${out}'\n`,
    );
    const person = await listen(['--exec', script]);
    const hostile = '$(touch owned)`;\'"';
    await pairAndRevoke(hostile);
    await expect.poll(() => readFile(out, 'utf8').catch(() => '')).toContain('\n');
    const [json = '', names] = (await readFile(out, 'utf8')).split('\n');
    expect(JSON.parse(json)).toMatchObject({ type: 'screen.paired', data: { screen: hostile } });
    expect(names).toBe(`Venue of ${hostile}/${hostile}`);
    await person.sees(/exit code 0\./);
    await person.interrupt();
  });

  it('runs a line by the shell, and again after another exit code', async () => {
    const count = join(folder, 'count');
    const line = `echo run >> '${count}'; test "$(wc -l < '${count}')" -gt 1`;
    const person = await listen(['--type', 'device.revoked', '--exec', line]);
    await pairAndRevoke('Main');
    await person.sees(/device\.revoked .*: exit code 1\. Trying again/);
    service.clock.advance(6000);
    await person.sees(/device\.revoked .*: exit code 0\./);
    await person.interrupt();
  });

  describe('with notices of a hostile service', () => {
    const from = '2026-01-01T00:00:00.000Z';
    const notice = (number: number, data: object) => {
      const id = `01a134b4-6500-7000-8000-00000000000${number}`;
      const place = { venueId: null, screenId: null, deviceId: null };
      return { id, at: from, type: 'screen.failing', ...place, data };
    };
    const notices = [
      notice(1, { venue: 'A\0B', screen: 'Bar\nBcc: x', reason: 'NUL \0 and ESC \u001b[2J' }),
      notice(2, { venue: 'x'.repeat(200_000), reason: { toString: 1 } }),
      notice(3, { venue: 'Last' }),
    ];

    /** Starts a service that has these notices. */
    async function startFake(): Promise<string> {
      const { url } = await startLocally(
        createServer((request, response) => {
          const query = new URL(request.url ?? '', 'http://x').searchParams;
          const after = query.get('after');
          const items =
            query.get('limit') === '1' ? [] : notices.filter(({ id }) => id > (after ?? ''));
          if (after === notices.at(-1)?.id) return;
          response.setHeader('Content-Type', 'application/json');
          response.end(JSON.stringify({ items, nextCursor: null }));
        }),
      );
      return url;
    }

    it('hands each of them over, escaped, and keeps its place', async () => {
      const out = join(folder, 'out');
      const state = join(folder, 'listen.json');
      const script = await program(
        'tell.sh',
        `#!/bin/sh\nprintf '%.9s|%s|%s\\n' "$SIGNAGE_NOTICE_VENUE" "$SIGNAGE_NOTICE_SCREEN" "$SIGNAGE_NOTICE_REASON" >> '${out}'\n`,
      );
      const env = { SIGNAGE_URL: await startFake() };
      const person = await listen(['--exec', script, '--state', state], env);
      await person.sees(/Last: exit code 0\./);
      const lines = (await readFile(out, 'utf8')).trim().split('\n');
      expect(lines).toEqual([
        'A\\u0000B|Bar\\u000aBcc: x|NUL \\u0000 and ESC \\u001b[2J',
        expect.stringMatching(/^x{9}\|\|/),
        'Last||',
      ]);
      await expect
        .poll(async () => JSON.parse(await readFile(state, 'utf8')).after)
        .toBe(notices.at(-1)?.id);
      await person.interrupt();
    });

    it('says which it could not hand over, and goes on', async () => {
      const env = { SIGNAGE_URL: await startFake(), HUGE: 'x'.repeat(3_000_000) };
      const person = await listen(['--exec', '/bin/true'], env);
      await person.sees(
        /screen\.failing A.*: could not be handed over .*E2BIG\)\.\s+It is given up\./,
      );
      await person.sees(/Last: could not be handed over/);
      await person.interrupt();
    });
  });

  it('says that there is no such program', async () => {
    const person = await listen(['--exec', join(folder, 'none')]);
    await pairAndRevoke('Main');
    await person.sees(/there is no program/);
    await person.interrupt();
  });

  it('runs the recipe for mail', async () => {
    const out = join(folder, 'out');
    await program('sendmail', `#!/bin/sh\ncat > '${out}.part'\nmv '${out}.part' '${out}'\n`);
    const path = { PATH: `${folder}${delimiter}${process.env.PATH}` };
    const script = await program('mail.sh', recipe('#!/bin/sh'));
    const person = await listen(['--type', 'device.*', '--exec', script], path);
    await pairAndRevoke('Bar');
    await expect
      .poll(() => readFile(out, 'utf8').catch(() => ''))
      .toContain('Subject: device.revoked: Venue of Bar/Bar\n\nbroken\n');
    await person.interrupt();
  });

  it('runs the recipe for a chat', async () => {
    const chat = await startReceiver();
    const script = await program('chat.js', recipe('#!/usr/bin/env node'));
    const args = ['--type', 'device.*', '--exec', script];
    const person = await listen(args, { CHAT_URL: chat.url });
    await pairAndRevoke('Bar');
    await expect
      .poll(() => chat.received.map(({ body }) => body))
      .toEqual([{ text: 'device.revoked: Venue of Bar/Bar broken' }]);
    chat.answer = (response) => response.writeHead(500).end();
    await pairAndRevoke('Lost');
    await person.sees(/exit code 1\. Trying again/);
    await person.interrupt();
  });
});

it.each([
  [[], /Give --exec COMMAND or --forward-to URL/],
  [['--exec', 'a', '--forward-to', 'http://localhost/'], /Give --exec COMMAND or --forward-to URL/],
  [['--forward-to', 'localhost:3000'], /takes a URL such as/],
  [['--exec', 'a', '--type', 'screen.drak'], /There is no type "screen.drak"/],
])('signage listen %j ends with 2', async (args, message) => {
  const env = { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken };
  const person = await sitDown(['listen', ...args], { env, clock: new ManualClock() });
  expect(await person.ended).toBe(2);
  expect(person.io.err()).toMatch(message);
});
