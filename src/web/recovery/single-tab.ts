const channelName = 'signage-player';

/**
 * Two tabs must not play with one device key. Tells the open tabs that this one takes over, and
 * calls `onReplaced` when a later tab does.
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
