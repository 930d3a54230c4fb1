import { hasCode, SignageError } from '../../domain/error.ts';
import type { Device } from '../records/find.ts';
import { cancelCode, codeEnd, makeCode } from './live-code.ts';
import { type PairRun, persist, rest, setTrouble } from './pair-run.ts';
import { makeStep, type PairStep } from './pair-step.ts';
import { type Pairing, placeName, placeWord } from './pairing.ts';
import { type Stage, stages } from './stages.ts';

const betweenLooksMs = 1000;
const delivered: readonly (number | null)[] = [200, 304];

/** The device that is on the screen now, whatever code it came by. */
async function boundDevice(run: PairRun, pairing: Pairing): Promise<string | null> {
  const { call, signal } = run;
  const { id } = pairing.place.screen;
  return (await persist(run, pairing, () => call.read('getScreen', { params: { id }, signal })))
    .deviceId;
}

/** Makes another code; answers the device if a TV has registered with some other code meanwhile. */
async function renewCode(run: PairRun, pairing: Pairing): Promise<string | null> {
  try {
    await persist(run, pairing, () => makeCode(run, pairing));
    return null;
  } catch (error) {
    const deviceId = hasCode(error, 'screen_already_bound')
      ? await boundDevice(run, pairing)
      : null;
    if (deviceId === null) throw error;
    return deviceId;
  }
}

/** Has a code ready until a TV registers; answers its id. */
async function* untilRegistered(run: PairRun, pairing: Pairing): AsyncGenerator<PairStep, string> {
  await makeCode(run, pairing);
  for (;;) {
    yield makeStep(pairing, 'code', pairing.code?.createdAt ?? '');
    const { status, deviceId } = await codeEnd(run, pairing);
    // Using one code cancels the others of the screen.
    const there =
      deviceId ??
      (status === 'cancelled' ? await boundDevice(run, pairing) : await renewCode(run, pairing));
    if (there !== null) return there;
    if (status === 'cancelled') {
      const message = `The code for "${placeName(pairing.place)}" was cancelled by somebody else.`;
      throw new SignageError('pairing_code_cancelled', message, {
        hint: `Another one: signage pair ${placeWord(pairing.place)}`,
      });
    }
  }
}

/** When the device did it; `null` when it has not yet. */
const doneAt: Record<Stage, (device: Device) => string | null> = {
  registered: ({ createdAt }) => createdAt,
  playlist: ({ lastPlaylistAt, lastPlaylistStatus }) =>
    delivered.includes(lastPlaylistStatus) ? lastPlaylistAt : null,
  event: ({ lastEventAt }) => lastEventAt,
};

function troubleOf(
  { lastPlaylistStatus }: Device,
  stage: Stage,
  pairing: Pairing,
): string | undefined {
  if (stage !== 'playlist' || lastPlaylistStatus === null) return undefined;
  if (lastPlaylistStatus !== 404) return 'The service cannot fetch the playlist of the screen.';
  return `The screen has no playlist yet: signage playlist publish ${placeWord(pairing.place)} -f …`;
}

/** Looks at the device until it has done that; answers when it did. */
async function untilDone(
  run: PairRun,
  pairing: Pairing,
  id: string,
  stage: Stage,
): Promise<string> {
  for (;;) {
    const device = await persist(run, pairing, () =>
      run.call.read('getDevice', { params: { id }, signal: run.signal }),
    );
    pairing.device = device;
    if (device.state === 'suspended') {
      throw new SignageError(
        'device_revoked',
        `The device on "${placeName(pairing.place)}" was revoked meanwhile.`,
        { status: 409 },
      );
    }
    const at = doneAt[stage](device);
    setTrouble(run, pairing, at === null ? troubleOf(device, stage, pairing) : undefined);
    if (at !== null) return at;
    await rest(run, pairing, betweenLooksMs);
  }
}

/**
 * Pairs one screen: makes a code, renews it as often as it expires, and follows the TV to the stage that is waited for. Answers the steps as
 * they happen. However it ends, no code that nobody has used is left.
 */
export async function* followTv(run: PairRun, pairing: Pairing): AsyncGenerator<PairStep> {
  try {
    const id = yield* untilRegistered(run, pairing);
    let at = '';
    for (const stage of stages.slice(0, stages.indexOf(run.waitFor) + 1)) {
      at = await untilDone(run, pairing, id, stage);
      pairing.reached.push(stage);
      yield makeStep(pairing, stage, at);
    }
    pairing.state = 'done';
    if (run.waitFor === 'event') yield makeStep(pairing, 'paired', at);
  } finally {
    await cancelCode(run, pairing);
  }
}
