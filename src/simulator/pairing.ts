import type { ManagementClient } from '../client/management-client.ts';
import type { RuntimeClient } from '../client/runtime-client.ts';
import type { Clock, Random } from '../domain/clock.ts';
import { Player } from './player.ts';
import type { DeviceInfoInput } from './tv-model.ts';

export interface Pairing {
  management: ManagementClient;
  runtime: RuntimeClient;
  signal?: AbortSignal | undefined;
  clock: Clock;
  random: Random;
}

/** Does what an installer and a TV do together: makes a code for the screen, and registers a new player with it. */
export async function pairPlayer(pairing: Pairing, screenId: string, deviceInfo: DeviceInfoInput): Promise<Player> {
  const { management, runtime, signal, clock, random } = pairing;
  const { code } = await management.call('createCode', { body: { screenId }, signal });
  const player = new Player({ client: runtime, deviceInfo, signal, clock, random });
  await player.register(code);
  return player;
}
