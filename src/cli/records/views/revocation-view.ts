import type { CallAnswer } from '../../../client/call.ts';
import type { View } from '../../output/view.ts';

/** The view of a revocation. `screen` is the full name of the device's screen. */
export const revocationView = (screen: string): View<CallAnswer<'revokeDevice'>> => ({
  columns: [
    { name: 'screen', value: () => screen },
    { name: 'screenState', value: ({ screen: { state } }) => state },
    { name: 'device', value: ({ device }) => device.id },
    { name: 'deviceState', value: ({ device }) => device.state },
    { name: 'suspendedAt', value: ({ device }) => device.suspendedAt },
    { name: 'suspendReason', value: ({ device }) => device.suspendReason },
  ],
  nameOf: ({ device }) => device.id,
});
