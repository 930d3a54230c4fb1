import { deriveDeviceKey, hashKey, makeKey } from '../../domain/api-key.ts';
import { SignageError } from '../../domain/error.ts';
import type { DeviceConfig } from '../../domain/records/config.ts';
import type { RegisteredView, Registration } from '../../domain/records/device.ts';
import { codeStatusAt, hashCode } from '../../domain/records/pairing-code.ts';
import type { Device, DeviceKey, PairingCode, Screen } from '../../domain/records/rows.ts';
import type { Tx } from '../../store/store.ts';
import {
  type ClientInfo,
  deviceActor,
  type RequestSubject,
  recordChange,
  type SystemDependencies,
} from '../context.ts';
import type { GuessRateLimit } from '../guesses/rate-limit.ts';
import type { GuessQuota } from '../guesses/rate-policy.ts';
import type { TrustedSources } from '../guesses/trusted-sources.ts';
import { changeOf } from '../lookup.ts';
import { putScreenNotice } from '../notices/outbox.ts';
import { readEffectiveConfig } from '../places/configs.ts';
import { cancelPendingCodes } from '../places/pending.ts';
import { useTicket } from './tickets.ts';

export interface RegistrationRequest extends ClientInfo {
  body: Registration;
  idempotencyKey: string | undefined;
  /** Receives the quota of the source, even if the registration fails. */
  onQuota?: (quota: GuessQuota) => void;
  /** Receives the screen of a known code, even if the registration fails. */
  subject?: RequestSubject;
}

/** `repeated`: an earlier request already got the same response. */
export interface RegistrationResult {
  answer: RegisteredView;
  repeated: boolean;
}

const unknownCode = () =>
  new SignageError(
    'pairing_code_not_found',
    'Unknown pairing code: check it on the screen’s page, or create a new one.',
  );

/** Sets the subject of a request to the screen of its code. */
function fillIn(subject: RequestSubject, { tenantId, venueId, screenId }: PairingCode): void {
  subject.namedId = screenId;
  subject.place = { id: null, tenantId, venueId, screenId };
}

/** Registration: binds TVs to screens (docs/protocol.md §3). */
export function makeRegistration(
  deps: SystemDependencies,
  rateLimit: GuessRateLimit,
  trustedSources: TrustedSources,
) {
  const { store, random, newId } = deps;

  /**
   * Repeats the response to the same code and `Idempotency-Key`, until the code expires or the
   * device key is first used.
   */
  async function repeatAnswer(
    tx: Tx,
    code: PairingCode,
    apiKey: string | undefined,
  ): Promise<RegistrationResult> {
    const codeUsed = new SignageError(
      'pairing_code_used',
      'This pairing code was already used: create a new one for the screen.',
    );
    if (apiKey === undefined || code.deviceId === null || code.expiresAt <= tx.now) throw codeUsed;
    const key = await tx.find('deviceKeys', 'hash', hashKey(apiKey));
    const device = await tx.get('devices', code.deviceId);
    if (
      !device ||
      key?.deviceId !== device.id ||
      key.state !== 'active' ||
      key.firstUsedAt !== null
    )
      throw codeUsed;
    return {
      answer: answer(code, code.deviceId, apiKey, code.answeredConfig as DeviceConfig),
      repeated: true,
    };
  }

  /**
   * Makes one atomic change: creates device and key, activates the screen, marks this code as used,
   * and cancels the other codes of the screen.
   */
  async function bindDevice(
    tx: Tx,
    code: PairingCode,
    screen: Screen,
    apiKey: string,
    request: RegistrationRequest,
  ): Promise<RegistrationResult> {
    const { tenantId, venueId, id: screenId } = screen;
    const device: Device = {
      id: newId(),
      tenantId,
      venueId,
      screenId,
      state: 'bound',
      deviceInfo: request.body.deviceInfo,
      createdAt: tx.stamp,
      suspendedAt: null,
      suspendReason: null,
      simulated: code.simulated,
    };
    const key: DeviceKey = {
      id: newId(),
      tenantId,
      deviceId: device.id,
      screenId,
      hash: hashKey(apiKey),
      state: 'active',
      createdAt: tx.stamp,
      firstUsedAt: null,
      revokedAt: null,
    };
    const { ticketId } = code;
    if (ticketId !== undefined) await useTicket(tx, ticketId, code.id);
    const { config } = await readEffectiveConfig(tx, device);
    await tx.put('devices', device);
    await tx.put('deviceKeys', key);
    await tx.put('screens', {
      ...screen,
      state: 'active',
      deviceId: device.id,
      updatedAt: tx.stamp,
    });
    await tx.put('codes', {
      ...code,
      state: 'used',
      usedAt: tx.now,
      deviceId: device.id,
      answeredConfig: config,
    });
    await cancelPendingCodes(tx, screenId, code.id);
    const named = ticketId !== undefined && { ticketId };
    const change = changeOf('device', 'register', device, { screenId, ...named });
    await recordChange(deps, tx, { ...request, actor: deviceActor(device) }, change);
    await putScreenNotice(deps, tx, 'screen.paired', screen, { deviceId: device.id, ...named });
    return { answer: answer(code, device.id, apiKey, config), repeated: false };
  }

  async function change(
    tx: Tx,
    codeId: string,
    apiKey: string | undefined,
    request: RegistrationRequest,
  ): Promise<RegistrationResult> {
    const code = await tx.get('codes', codeId);
    if (!code) throw unknownCode();
    const status = codeStatusAt(code, tx.now);
    if (status === 'used') return repeatAnswer(tx, code, apiKey);
    if (status === 'expired')
      throw new SignageError(
        'pairing_code_expired',
        'This pairing code has expired: create a new one for the screen.',
      );
    const screen = status === 'cancelled' ? undefined : await tx.get('screens', code.screenId);
    if (!screen)
      throw new SignageError(
        'pairing_code_cancelled',
        'This pairing code was cancelled: create a new one for the screen.',
      );
    if (screen.state === 'active')
      throw new SignageError(
        'pairing_code_used',
        'The screen already has a device: revoke it, then create a new code.',
      );
    return bindDevice(tx, code, screen, apiKey ?? makeKey('dak_', random), request);
  }

  /**
   * Registers a TV. Of concurrent registrations with one code, exactly one succeeds. The device key
   * works when the promise resolves. Throws `pairing_code_not_found`, `…_expired`,
   * `…_cancelled`, `…_used`, `too_many_attempts`.
   */
  return async function register(request: RegistrationRequest): Promise<RegistrationResult> {
    const { pairingCode } = request.body;
    const codeId = hashCode(store.secret, pairingCode);
    const storedCode = await store.read.get('codes', codeId);
    await rateLimit.judge(request, storedCode?.tenantId, request.onQuota);
    if (!storedCode) throw unknownCode();
    if (request.subject) fillIn(request.subject, storedCode);
    const { idempotencyKey } = request;
    const apiKey =
      idempotencyKey === undefined
        ? undefined
        : deriveDeviceKey(store.secret, pairingCode, idempotencyKey);
    const result = await store.write((tx) => change(tx, codeId, apiKey, request));
    const { deviceId, tenantId } = result.answer;
    store.touch('device', deviceId, { lastSeenAt: deps.clock.now(), lastAddress: request.address });
    trustedSources.remember(request.address, tenantId);
    return result;
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
