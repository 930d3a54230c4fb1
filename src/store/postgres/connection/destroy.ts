/** Cuts a connection without a goodbye, which a network that is gone would not take. */
export function destroy(client: object): void {
  (client as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}
