import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { startProgram } from '../../support/process/program.ts';
import { managerAt } from '../../support/service/service.ts';
import { registerTvs } from '../registered.ts';

const item = {
  creativeId: crypto.randomUUID(),
  creativeUrl: 'https://media.example.com/spring.jpg',
  creativeType: 'image',
  duration: 15,
};

/**
 * Starts 20 TVs of a tenant of their own, which fetch their playlists 100 times a second in all, in
 * a process of their own.
 */
export async function startAskingTvs(url: string, token: string) {
  const admin = managerAt(url, token);
  const { id } = (await admin.post('/v1/tenants', { name: 'Other' })).body;
  const tvs = await registerTvs(url, token, 20, id);
  const shown = { selector: '!none', action: 'publish', items: [item] };
  expect((await admin.in(id).post('/v1/publications', shown)).status).toBe(200);
  const asking = await startProgram(new URL('asking-tvs.js', import.meta.url));
  await asking.ask({ url, tvs });
  const taken = async () => (await asking.ask<{ latencies: number[] }>({})).latencies;
  // Requests with keys that are not verified yet wait for all others.
  await sleep(1000);
  await taken();
  return {
    /** Returns the latencies since the last call, in milliseconds. */
    taken,
    stop: () => asking.stop(),
  };
}
