const channelName = 'signage-player';

/**
 * Ensures that only one tab plays with the device key. Informs the open tabs that this tab takes
 * over. Calls `onReplaced` when a later tab takes over.
 */
export function takeOver(onReplaced: () => void): void {
  if (!('BroadcastChannel' in window)) return;
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = () => {
    channel.close();
    onReplaced();
  };
  channel.postMessage('take over');
}
