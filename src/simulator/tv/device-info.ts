import type { DeviceInfoInput } from '../../client/entities.ts';
import { type Random, randomHex } from '../../domain/clock.ts';

const defaultModel: DeviceInfoInput = {
  manufacturer: 'signage-kit',
  model: 'simulated TV',
  osVersion: '1.0',
  appVersion: '1.0.0',
};

/**
 * Returns the device info of the TV with this number, based on a model. The addresses are reserved:
 * a locally administered MAC address and an IP address from RFC 5737.
 */
export function simulatedDeviceInfo(
  number: number,
  random: Random,
  model = defaultModel,
): DeviceInfoInput {
  const tail = randomHex(random, 2).toUpperCase();
  return {
    ...model,
    macAddress: `02:00:5E:10:${tail.slice(0, 2)}:${tail.slice(2)}`,
    ipAddress: `192.0.2.${1 + (number % 254)}`,
    deviceName: `Simulated TV ${number}`,
  };
}
