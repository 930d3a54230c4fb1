// Generated calls that must change nothing: without --allow-changes, with a viewer's token, and
// without the token of a plan that is of this call, unused, not expired and up to date.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { startMcp } from '../../cli/mcp/mcp-client.ts';
import { showClaim } from '../../cli/pair/claiming-tv.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { item } from '../../support/service/content.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';

const page = '<!doctype html><title>Menu</title><h1>Menu</h1>';

/** Rows of these sections change by themselves, and by the token of each run. */
const restless = ['server', 'tokens', 'watches', 'clocks', 'marks', 'creations'];

/** Whether an entry of the audit trail is of this test, of the token of a run, or of a refusal. */
const isOurs = ({ action, details }: { action: string; details: { name?: string } }) =>
  ['backup.create', 'access.denied'].includes(action) ||
  details.name?.startsWith('signage mcp') === true;

/** Returns everything that a tool could change, and the audit trail. */
async function stateOf(service: TestService<Clock>): Promise<string[]> {
  const { text } = await service.manage('POST', '/v1/backup');
  return text
    .split('\n')
    .map((line) => line.slice(line.indexOf(' ') + 1))
    .filter((line) => {
      if (!line.startsWith('{"section"')) return false;
      const { section, row } = JSON.parse(line);
      return section === 'audit' ? !isOurs(row.entry) : !restless.includes(section);
    })
    .sort();
}

const oneOf = fc.constantFrom;
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const entry = { name: 'Lunch', from: '11:00', to: '14:00' };
const window = oneOf('Lobby/Window', 'Lobby/Bar', 'Lobby/Window', 'Lobby/Bar', 'Lobby/Nowhere');
const target = { screen: window };
const place = fc.oneof(
  { weight: 10, arbitrary: fc.record(target) },
  { weight: 2, arbitrary: fc.record({ venue: oneOf('Lobby', 'Loby') }) },
  { weight: 2, arbitrary: fc.record({ selector: oneOf('role=menu', 'role in') }) },
  { weight: 1, arbitrary: fc.record({ ...target, venue: oneOf('Lobby') }) },
);
const shown = fc.oneof(
  fc.record({ html: oneOf(page, page, page, '<h1>') }),
  fc.record({ files: oneOf(['menu.html'], ['menu.html'], ['../menu.html'], ['http://[::1]/a']) }),
);
const playlist = oneOf({ items: [item()] }, { items: [] }, { items: [{ file: 'menu.html' }] }, {});
const until = oneOf('1h', '2d', '3h', '2020-01-01');
const schedule = oneOf(
  null,
  { entries: [] },
  { entries: [{ ...entry, base: true }] },
  { entries: [{ ...entry, items: [item()] }] },
  { entries: [entry, entry] },
);

/** Arguments of the tools that change something, besides `confirm`. */
const changing = (claim: string): Record<string, fc.Arbitrary<object>> => {
  const with_ = (...parts: fc.Arbitrary<object>[]) =>
    fc.tuple(place, ...parts).map((all) => Object.assign({}, ...all) as object);
  return {
    show: with_(
      shown,
      fc.record({ duration: maybe(oneOf('15s', '20s', '0')), add: maybe(oneOf(true)) }),
    ),
    publish: with_(fc.record({ playlist })),
    rollback: with_(fc.record({ version: oneOf<unknown>('previous', 'none', 1, 99) })),
    set_schedule: with_(fc.record({ schedule })),
    takeover: with_(shown, fc.record({ until })),
    clear_takeover: place,
    pair: fc.record({ ...target, claim: maybe(oneOf(claim, 'AAAAAA')) }),
  };
};

const confirms = ['none', 'guessed', 'foreign', 'used', 'expired', 'stale'] as const;
type Kind = 'not allowed' | 'viewer' | (typeof confirms)[number];

/** Makes the clock of a process 30,000 times faster, so that plans expire after 10 ms. */
const hasty = `
  const [now, start] = [Date.now, Date.now()];
  Date.now = () => start + (now() - start) * 30_000;`;

/** Makes this many calls. Fails if one of them changes something. */
export async function changeNothing(count: number, seed: number) {
  const service = await startService<Clock>({ clock: systemClock });
  const { id: venueId } = await service.venue({ name: 'Lobby', timezone: 'Europe/Berlin' });
  const screenIds: string[] = [];
  for (const name of ['Window', 'Bar'])
    screenIds.push((await service.screen({ venueId, name, labels: { role: 'menu' } })).id);
  await service.tv(screenIds[0]);
  for (const id of [...screenIds, ...screenIds])
    await service.manage('PUT', `/v1/screens/${id}/playlist`, { items: [item()] });
  const { claim } = await showClaim(service);
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'menu.html'), page);
  const start = async (token: string, args: string[], env = {}) =>
    startMcp(service, token, { cwd, args, env, answer: () => 'accept' });
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hasty)}`;
  const [reader, viewer, one, other, aging] = await Promise.all([
    start(adminToken, []),
    start(await service.token('viewer'), ['--allow-changes']),
    start(adminToken, ['--allow-changes']),
    start(adminToken, ['--allow-changes']),
    start(adminToken, ['--allow-changes'], { NODE_OPTIONS }),
  ]);
  const tools = changing(claim);
  const calls = fc.sample(
    fc
      .tuple(
        oneOf<Kind>('not allowed', 'viewer', 'viewer', ...confirms),
        oneOf(...Object.keys(tools)),
        fc.integer(),
      )
      .chain(([kind, name, number]) =>
        (tools[name] as fc.Arbitrary<object>).map((args) => ({ kind, name, args, number })),
      ),
    { seed, numRuns: count },
  );
  /** Changes the schedule of the venue or the playlists as somebody else, so that plans are old. */
  const changeBeside = async () => {
    const entries = [{ ...entry, name: crypto.randomUUID(), items: [item()] }];
    for (const id of screenIds) {
      const items = [item()];
      const until = Math.floor(systemClock.now() / 1000) + 3600;
      await service.manage('PUT', `/v1/screens/${id}/playlist`, { items });
      await service.manage('PUT', `/v1/screens/${id}/takeover`, { items, until });
      await service.manage('PUT', `/v1/screens/${id}/schedule`, { entries });
    }
    await service.manage('PUT', `/v1/venues/${venueId}/schedule`, { entries });
  };
  const counts = { plans: 0, refused: 0 };
  let used: { name: string; args: object; confirm: string } | undefined;
  let before = await stateOf(service);
  let unchecked: string[] = [];
  /** Fails if a call since the last check has changed something. */
  async function check() {
    expect(await stateOf(service), unchecked.join('\n')).toEqual(before);
    unchecked = [];
  }
  /** Calls, and fails unless the answer is a plan or an error. */
  async function call(on: typeof one, name: string, args: object) {
    unchecked.push(`${name} ${JSON.stringify(args)}`);
    const { json, isError } = await on.call(name, { ...args }).catch((error: Error) => {
      expect(error.message).toContain(name);
      return { isError: true, json: { code: 'no tool' } };
    });
    if (isError) counts.refused++;
    else counts.plans++;
    expect(isError || json.state === 'planned', unchecked.at(-1)).toBe(true);
    return json?.confirm as string | undefined;
  }
  for (const { kind, name, args, number } of calls) {
    if (kind === 'not allowed') await call(reader, name, { ...args, confirm: `${number}` });
    else if (kind === 'none') await call(one, name, args);
    else if (kind === 'guessed') await call(one, name, { ...args, confirm: `${number}` });
    else if (kind === 'viewer') {
      const confirm = await call(viewer, name, args);
      if (confirm) await call(viewer, name, { ...args, confirm });
    } else if (kind === 'foreign') {
      // Of another server, and of other arguments.
      const confirm = await call(other, name, args);
      if (confirm === undefined) continue;
      await call(one, name, { ...args, confirm });
      await call(other, name, { ...args, screen: 'Lobby/Else', confirm });
    } else if (kind === 'expired') {
      const confirm = await call(aging, name, args);
      if (confirm === undefined) continue;
      await new Promise((resolve) => setTimeout(resolve, 15));
      await call(aging, name, { ...args, confirm });
    } else if (kind === 'stale') {
      const confirm = await call(one, name, args);
      if (confirm === undefined || name === 'pair') continue;
      await check();
      await changeBeside();
      before = await stateOf(service);
      await call(one, name, { ...args, confirm });
    } else {
      if (used) await call(one, used.name, { ...used.args, confirm: used.confirm });
      if (number % 5 !== 0) continue;
      const confirm = await call(one, name, args);
      if (confirm === undefined) continue;
      await check();
      const made = await one.call(name, { ...args, confirm });
      if (made.isError) continue;
      used = { name, args, confirm };
      const after = await stateOf(service);
      expect(after).not.toEqual(before);
      before = after;
    }
    if (unchecked.length > 10) await check();
  }
  await check();
  // Many calls must be ones that could change something.
  expect(counts.plans).toBeGreaterThan(count / 4);
  return counts;
}
