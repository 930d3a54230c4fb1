/** Headers that concern one connection only (RFC 9110 §7.6.1). Node answers `Expect`. */
const hopByHop = [
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/**
 * Returns the headers that a proxy passes on. `content-length` always stays, because it frames the
 * body.
 */
export function passedHeaders<Value extends string | string[]>(
  headers: NodeJS.Dict<Value>,
): NodeJS.Dict<Value> {
  const named = String(headers.connection ?? '').toLowerCase();
  const dropped = new Set([...hopByHop, ...named.split(',').map((name) => name.trim())]);
  dropped.delete('content-length');
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
}
