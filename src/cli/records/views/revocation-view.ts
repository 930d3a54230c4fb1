import type { CallAnswer } from '../../../client/call.ts';
import type { View } from '../../output/view.ts';

/** What a revocation came to; `screen` is what the device's screen is called in full. */
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
