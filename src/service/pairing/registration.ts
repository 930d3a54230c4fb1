import { deriveDeviceKey, hashKey, makeKey } from '../../domain/api-key.ts';
import { SignageError } from '../../domain/error.ts';
import type { DeviceConfig } from '../../domain/records/config.ts';
import type { RegisteredView, Registration } from '../../domain/records/device.ts';
import { codeStatusAt, hashCode } from '../../domain/records/pairing-code.ts';
import type { Device, DeviceKey, PairingCode, Screen } from '../../domain/records/rows.ts';
import type { Tx } from '../../store/store.ts';
import { byDevice } from '../auth/device-keys.ts';
import { type ClientInfo, recordChange, type SystemDependencies } from '../context.ts';
import { readEffectiveConfig } from '../places/configs.ts';
import { cancelCodes } from '../places/screens.ts';
import type { GuessRateLimit } from './rate-limit.ts';
import type { TrustedSources } from './trusted-sources.ts';

/** A registration as it came. */
export interface RegistrationRequest extends ClientInfo {
  body: Registration;
  idempotencyKey: string | undefined;
}

/** The answer, and whether it was given before. */
export interface Outcome {
  answer: RegisteredView;
  repeated: boolean;
}

const unknownCode = () =>
  new SignageError(
    'pairing_code_not_found',
    'There is no such pairing code: check it on the screen’s page, or make a new one.',
  );

/** Binds TVs to screens (docs/protocol.md §3). */
export function makeRegistration(
  deps: SystemDependencies,
  guesses: GuessRateLimit,
  trust: TrustedSources,
) {
  const { store, random, newId } = deps;

  /** The same answer again: for the same code and `Idempotency-Key`, while the code lives and the key is unused. */
  async function repeat(tx: Tx, code: PairingCode, apiKey: string | undefined): Promise<Outcome> {
    const used = new SignageError(
      'pairing_code_used',
      'This pairing code was used already: make a new one for the screen.',
    );
    if (apiKey === undefined || code.deviceId === null || code.expiresAt <= tx.now) throw used;
    const key = await tx.find('deviceKeys', 'hash', hashKey(apiKey));
    const device = await tx.get('devices', code.deviceId);
    if (
      !device ||
      key?.deviceId !== device.id ||
      key.state !== 'active' ||
      key.firstUsedAt !== null
    )
      throw used;
    return {
      answer: answer(code, code.deviceId, apiKey, code.answeredConfig as DeviceConfig),
      repeated: true,
    };
  }

  /** The one atomic change: device, key, screen, this code and the screen's others. */
  async function bind(
    tx: Tx,
    code: PairingCode,
    screen: Screen,
    apiKey: string,
    request: RegistrationRequest,
  ): Promise<Outcome> {
    const { tenantId, venueId, id: screenId } = screen;
    const device: Device = {
      id: newId(),
      tenantId,
      venueId,
      screenId,
      state: 'bound',
      deviceInfo: request.body.deviceInfo,
      createdAt: tx.now,
      suspendedAt: null,
      suspendReason: null,
    };
    const key: DeviceKey = {
      id: newId(),
      tenantId,
      deviceId: device.id,
      screenId,
      hash: hashKey(apiKey),
      state: 'active',
      createdAt: tx.now,
      firstUsedAt: null,
      revokedAt: null,
    };
    const { config } = await readEffectiveConfig(tx, device);
    await tx.put('devices', device);
    await tx.put('deviceKeys', key);
    await tx.put('screens', { ...screen, state: 'active', deviceId: device.id, updatedAt: tx.now });
    await tx.put('codes', {
      ...code,
      state: 'used',
      usedAt: tx.now,
      deviceId: device.id,
      answeredConfig: config,
    });
    await cancelCodes(tx, screenId, code.id);
    const subject = { kind: 'device', id: device.id };
    const change = {
      action: 'device.register',
      subject,
      tenantId,
      venueIds: [venueId],
      details: { screenId },
    };
    await recordChange(deps, tx, { ...request, actor: byDevice(device) }, change);
    return { answer: answer(code, device.id, apiKey, config), repeated: false };
  }

  async function change(
    tx: Tx,
    codeId: string,
    apiKey: string | undefined,
    request: RegistrationRequest,
  ): Promise<Outcome> {
    const code = await tx.get('codes', codeId);
    if (!code) throw unknownCode();
    const status = codeStatusAt(code, tx.now);
    if (status === 'used') return repeat(tx, code, apiKey);
    if (status === 'expired')
      throw new SignageError(
        'pairing_code_expired',
        'This pairing code has expired: make a new one for the screen.',
      );
    const screen = status === 'cancelled' ? undefined : await tx.get('screens', code.screenId);
    if (!screen)
      throw new SignageError(
        'pairing_code_cancelled',
        'This pairing code was cancelled: make a new one for the screen.',
      );
    if (screen.state === 'active')
      throw new SignageError(
        'pairing_code_used',
        'The screen has a device already: revoke it, then make a new code.',
      );
    return bind(tx, code, screen, apiKey ?? makeKey('dak_', random), request);
  }

  /**
   * Of any number of registrations that race with one code, one gets the answer; its key works when the promise resolves. Throws
   * `pairing_code_not_found`, `…_expired`, `…_cancelled`, `…_used`, `too_many_attempts`.
   */
  return async function register(request: RegistrationRequest): Promise<Outcome> {
    const { pairingCode } = request.body;
    const codeId = hashCode(store.secret, pairingCode);
    const known = await store.read.get('codes', codeId);
    await guesses.judge(request, known?.tenantId);
    if (!known) throw unknownCode();
    const { idempotencyKey } = request;
    const apiKey =
      idempotencyKey === undefined
        ? undefined
        : deriveDeviceKey(store.secret, pairingCode, idempotencyKey);
    const outcome = await store.write((tx) => change(tx, codeId, apiKey, request));
    const { deviceId, tenantId } = outcome.answer;
    store.touch('device', deviceId, { lastSeenAt: deps.clock.now(), lastAddress: request.address });
    trust.remember(request.address, tenantId);
    return outcome;
  };
}

function answer(
  code: PairingCode,
  deviceId: string,
  apiKey: string,
  config: DeviceConfig,
): RegisteredView {
  return { deviceId, screenId: code.screenId, apiKey, tenantId: code.tenantId, config };
}
