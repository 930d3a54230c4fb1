import { secondMs } from '../../domain/clock.ts';
import type { DeviceChanges } from '../../domain/records/device-changes.ts';
import type { KeyCheck } from '../auth/device-keys.ts';
import type { DevicePrincipal, ServiceDependencies } from '../context.ts';
import type { CurrentAnswers, DeviceAnswers } from './device-answers.ts';
import { type Hold, type HoldListener, HoldTable, isHoldOwner } from './hold-table.ts';
import { SharedTimers, timerStepMs, timerStepOf } from './shared-timers.ts';
import { Turns } from './turns.ts';

/** Maximum number of held requests of a device. Another request ends the oldest hold. */
const maxHoldsPerDevice = 2;
/**
 * Limits of the hints of an instance, so that TVs do not all return at the same moment. The burst
 * is for publications on some hundred screens.
 */
const hintLimits = { perSecond: 2000, burst: 500 };
/** Limits of the hints about signals. Nobody in front of a TV notices a few seconds. */
const signalLimits = { perSecond: 300, burst: 50 };
/**
 * Limits of the replaced holds that end. They are low, because a device with many pipelined
 * requests causes such holds.
 */
const replacedLimits = { perSecond: 200, burst: 1 };
/**
 * Maximum time for the last answers when the service stops. It is shorter than the time for which a
 * stopping service waits for requests in progress.
 */
const stopMs = 8 * secondMs;

interface DeviceChangesOptions {
  deviceAnswers: Pick<DeviceAnswers, 'current'>;
  checkKey: KeyCheck;
  /** Receives the time between a change and the hint to a TV, in milliseconds. */
  onHint?: ((ms: number) => void) | undefined;
  /** Returns a random number from 0 to 1. Default: `Math.random`. */
  draw?: () => number;
}

/**
 * Returns current cursors to TVs, and holds a request until its cursor changes (docs/protocol.md
 * §2.9). The cursor depends on the answer, and is no position, so no change can be missed.
 */
export function makeDeviceChanges(
  { store, clock }: Pick<ServiceDependencies, 'store' | 'clock'>,
  {
    deviceAnswers: { current },
    checkKey,
    onHint = () => {},
    draw = Math.random,
  }: DeviceChangesOptions,
) {
  const holds = new HoldTable();
  const turns = new Turns<Hold>(clock, hintLimits, async (hold) => {
    if (hold.state === 'queued') await look(hold);
  });
  const signalTurns = new Turns<Hold>(clock, signalLimits, async (hold) => {
    if (hold.state === 'deferred') await look(hold);
  });
  // A device with many requests fills only this queue, so it does not delay the hints of other
  // devices.
  const replacedTurns = new Turns(clock, replacedLimits, answerReplaced);
  const timers = new SharedTimers<Hold>(clock, onDue);
  let isStopping = false;
  let stopWatching: (() => void) | undefined;

  function onChange(topic: string): void {
    const [kind = '', ...path] = topic.split('/');
    const id = path.at(-1);
    if (id === undefined) for (const hold of holds.all) wake(hold);
    else if (kind === 'signals')
      holds.of(path[0] === 'venue' ? 'venues' : 'screens', id).forEach(defer);
    // Events come all the time, and change no cursor.
    else if (isHoldOwner(kind)) holds.of(kind, id).forEach(wake);
  }

  /** Returns a random end for a hold, so that TVs do not all return at the same moment. */
  function drawnEndStep(waitSeconds: number): number {
    const waitMs = waitSeconds * secondMs;
    const drawnMs = 0.8 * waitMs + draw() * (0.2 * waitMs - timerStepMs);
    return timerStepOf(clock.now() + drawnMs);
  }

  function add(hold: Hold): void {
    stopWatching ??= store.watch('*', onChange);
    holds.add(hold);
    const ofDevice = holds.of('devices', hold.deviceId);
    if (ofDevice.length <= maxHoldsPerDevice) return;
    const [oldest] = ofDevice;
    if (oldest && remove(oldest)) replacedTurns.add(oldest);
  }

  /** Returns whether the hold was in the table. */
  function remove(hold: Hold): boolean {
    if (!holds.delete(hold)) return false;
    timers.delete(hold, hold.dueStep);
    if (holds.all.size === 0) {
      stopWatching?.();
      stopWatching = undefined;
    }
    return true;
  }

  /**
   * Looks up the answer at the end of a playlist, or ends the hold. Many screens may share the end
   * of a playlist, so these look-ups are queued. The ends of holds are not queued, because they are
   * random already.
   */
  function onDue(hold: Hold): void {
    if (hold.dueStep < hold.endStep) {
      queue(hold);
      return;
    }
    hold.isOver = true;
    void look(hold);
  }

  /** Queues the answer of a hold. It is sent even without a change. */
  function end(hold: Hold): void {
    hold.isOver = true;
    wake(hold);
  }

  function wake(hold: Hold): void {
    if (hold.state === 'looking') hold.hasChanged = true;
    else if (hold.state === 'waiting' || hold.state === 'deferred') queue(hold);
  }

  /** As `wake`, but waits behind other signals. */
  function defer(hold: Hold): void {
    if (hold.state === 'waiting') queue(hold, 'deferred');
    else if (hold.state === 'looking') hold.hasChanged = true;
  }

  /** Queues a look-up for a hold. The hold still ends in time. */
  function queue(hold: Hold, state: 'queued' | 'deferred' = 'queued'): void {
    hold.state = state;
    hold.wokenAtMs = clock.now();
    setTimer(hold, hold.endStep);
    (state === 'queued' ? turns : signalTurns).add(hold);
  }

  function setTimer(hold: Hold, step: number): void {
    timers.delete(hold, hold.dueStep);
    hold.dueStep = step;
    timers.add(hold, step);
  }

  /** Checks the device key again, and returns the current answers. */
  async function read({ keyHash, baseUrl, after }: Hold): Promise<CurrentAnswers> {
    const holder = await store.read.findByKeyHash(keyHash);
    return current(checkKey(keyHash, holder), baseUrl, after);
  }

  /** Looks up the current answers. Then answers the hold, or keeps it waiting. Never rejects. */
  async function look(hold: Hold): Promise<void> {
    if (!holds.all.has(hold)) return;
    const { isOver } = hold;
    timers.delete(hold, hold.dueStep);
    hold.state = 'looking';
    hold.hasChanged = false;
    await read(hold).then(
      (answers) => settle(hold, isOver, answers),
      (error) => {
        if (remove(hold)) hold.listener.fail(error);
      },
    );
  }

  /** Answers a hold if the cursor has changed or the hold is over. Otherwise keeps it waiting. */
  function settle(hold: Hold, isOver: boolean, { changes, endsAtMs }: CurrentAnswers): void {
    const { after, listener, wokenAtMs } = hold;
    const hasMoved = changes.cursor !== after;
    if (!hasMoved && !isOver) {
      if (holds.all.has(hold)) wait(hold, endsAtMs);
      return;
    }
    if (!remove(hold)) return;
    if (hasMoved && wokenAtMs !== undefined) onHint(clock.now() - wokenAtMs);
    listener.answer(changes);
  }

  /** Answers a hold that a later request of the same device has replaced. Never rejects. */
  function answerReplaced(hold: Hold): Promise<void> {
    const { listener } = hold;
    return read(hold).then(
      ({ changes }) => listener.answer(changes),
      (error) => listener.fail(error),
    );
  }

  /** Keeps the hold waiting for a change, the end of the playlist, or the end of the hold. */
  function wait(hold: Hold, playlistEndsAtMs: number): void {
    if (hold.hasChanged) {
      queue(hold);
      return;
    }
    hold.state = 'waiting';
    hold.wokenAtMs = undefined;
    setTimer(hold, Math.min(hold.endStep, timerStepOf(playlistEndsAtMs)));
  }

  return {
    /** Number of held requests. */
    heldCount: () => holds.all.size,

    /** Returns the current cursor, with the ETags of the playlist and config. */
    async get(
      principal: DevicePrincipal,
      baseUrl: string,
      after: string | undefined,
    ): Promise<DeviceChanges> {
      return (await current(principal, baseUrl, after)).changes;
    },

    /**
     * Calls `listener.answer` when the cursor differs from `after`, or when the time is over. Calls
     * `listener.fail` if a look-up fails, for example because the device key was revoked. Returns a
     * function that cancels the hold. That function returns whether the request was still held.
     */
    hold(
      { key, device, screen }: DevicePrincipal,
      { after, waitSeconds, baseUrl }: { after: string; waitSeconds: number; baseUrl: string },
      listener: HoldListener,
    ): () => boolean {
      const endStep = drawnEndStep(waitSeconds);
      const hold: Hold = {
        keyHash: key.hash,
        deviceId: device.id,
        screenId: screen.id,
        venueId: device.venueId,
        tenantId: device.tenantId,
        after,
        baseUrl,
        listener,
        endStep,
        dueStep: endStep,
        state: 'looking',
        hasChanged: false,
        isOver: isStopping,
        wokenAtMs: undefined,
      };
      add(hold);
      void look(hold);
      return () => remove(hold);
    },

    /** Ends all holds, because the service stops. */
    stop(): void {
      isStopping = true;
      turns.drainWithin(stopMs);
      signalTurns.drainWithin(stopMs);
      replacedTurns.drainWithin(stopMs);
      for (const hold of holds.all) end(hold);
    },
  };
}
