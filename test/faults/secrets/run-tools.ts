import { expect } from 'vitest';
import { startMcp } from '../../cli/mcp/mcp-client.ts';
import { item } from '../../support/service/content.ts';
import { adminToken, type TestService } from '../../support/service/service.ts';
import type { Place } from './checker.ts';
import type { Sentinels } from './sentinels.ts';

const page = '<!doctype html><title>Menu</title><h1>Menu</h1>';

/** Calls of every tool of `signage mcp`. The plans of those that change something are confirmed. */
const callsOf = (screen: string, claim: string): [tool: string, args: object][] => [
  ['show', { screen, html: page }],
  ['publish', { screen, playlist: { items: [item()] } }],
  ['rollback', { screen, version: 'previous' }],
  [
    'set_schedule',
    { screen, schedule: { entries: [{ name: 'A', from: '11:00', to: '12:00', items: [item()] }] } },
  ],
  ['takeover', { screen, html: page, until: '2h' }],
  ['clear_takeover', { screen }],
  ['pair', { screen, claim }],
  ...['screens', 'venues', 'campaigns', 'waiting_tvs'].map((what): [string, object] => [
    'find',
    { what },
  ]),
  ['find', { what: 'screens', condition: 'dark' }],
  ['status', {}],
  ['explain', { screen }],
  ['week', { screen }],
  ['playlist', { screen }],
  ['playlist', { screen, history: true }],
  ['media', {}],
  ['notices', {}],
  ['events', {}],
  ...['impressions', 'plays', 'coverage'].map((what): [string, object] => ['report', { what }]),
  ['doctor', {}],
  ['doctor', { screen }],
  ['pair', { screen, claim: adminToken }],
  ['status', { venue: adminToken }],
];

/** Returns the results of all tools of an assistant, in a service that also has a webhook. */
export async function runTools(service: TestService, sentinels: Sentinels): Promise<Place[]> {
  const hook = { name: 'Hook', url: 'https://hooks.example.com/canary-of-a-path-73' };
  const { body } = await service.manage('POST', '/v1/webhooks', hook);
  sentinels.add('the secret of a webhook', body.secret);
  const { id: venueId } = await service.venue({ timezone: 'Europe/Berlin' });
  const { code, screenId } = await service.code((await service.screen({ venueId })).id);
  sentinels.add('a pairing code beside an assistant', code);
  const waiting = await service.send('POST', '/devices/claims', { body: { deviceInfo: {} } });
  sentinels.add('the claim token beside an assistant', waiting.body.token);
  const { client, call, log, close } = await startMcp(service, adminToken, {
    args: ['--allow-changes'],
    answer: () => 'accept',
  });
  const calls = callsOf(screenId, waiting.body.claim);
  const { tools } = await client.listTools();
  expect(new Set(calls.map(([name]) => name))).toEqual(new Set(tools.map(({ name }) => name)));
  const places: Place[] = [{ where: 'the list of tools', contents: JSON.stringify(tools) }];
  for (const [name, args] of calls) {
    const answers = [await call(name, { ...args })];
    const confirm = answers[0]?.json?.confirm;
    if (confirm !== undefined) answers.push(await call(name, { ...args, confirm }));
    const where = `the answer of the tool ${name} to ${JSON.stringify(args)}`;
    places.push({ where, contents: JSON.stringify(answers) });
  }
  await close();
  return [...places, { where: 'the log of signage mcp', contents: log() }];
}
