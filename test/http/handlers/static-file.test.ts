import { expect, it } from 'vitest';
import { StaticFile } from '../../../src/http/handlers/static-file.ts';

it('compresses a file again after a compression that failed', async () => {
  const bytes = Uint8Array.from({ length: 5000 }, () => 65);
  const file = new StaticFile(bytes, 'text/css', { headers: {}, compression: true });
  // zlib refuses a size that is no number.
  Object.defineProperty(bytes, 'length', { value: 'unknown', configurable: true });
  await expect(file.represent('br')).rejects.toThrow();
  Reflect.deleteProperty(bytes, 'length');
  const { headers } = await file.represent('br');
  expect(headers['Content-Encoding']).toBe('br');
});
